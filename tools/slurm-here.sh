#!/bin/sh
# usage: slurm-here.sh start FOLDER [CPUS] | stop FOLDER
#
# A Slurm cluster of one node, this machine, to try jobs out on: on Debian, once
# 'apt-get install slurm-wlm munge' has been done, as root or as any user. All its files lie
# in FOLDER, on a path of at most 60 characters. With CPUS it claims so many cores, whatever
# there are. After 'start', say
#
#   export SLURM_CONF=FOLDER/slurm.conf
#
# and sbatch, squeue and scancel work; see vignettes/clusters/slurm.R.
action=$1
folder=$2
cpus=${3:-`nproc`}
PATH=$PATH:/usr/sbin
if [ -z "$folder" ]; then
  sed -n 's/^# usage: //p' "$0" >&2
  exit 2
fi

# Ends a daemon by the number that it wrote itself.
stop() {
  [ -f "$folder/$1.pid" ] || return 0
  pid=`cat "$folder/$1.pid"`
  kill "$pid" 2>/dev/null
  for wait in 1 2 3 4 5 6 7 8 9 10; do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.5
  done
  rm -f "$folder/$1.pid"
}

stop_all() {
  for daemon in slurmd slurmctld munged; do stop $daemon; done
}

missing() {
  for program in munged slurmctld slurmd sbatch; do
    command -v $program > /dev/null 2>&1 || echo $program
  done
}

configuration() {
  host=`hostname -s`
  # MB; one in ten is left to the daemons and to who hands out.
  memory=`awk '/^MemTotal/ { print int(0.9 * $2 / 1024) }' /proc/meminfo`
  user=`id -un`
  cat <<CONF
ClusterName=here
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
SlurmctldPort=46817
SlurmdPort=46818
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cpus RealMemory=$memory State=UNKNOWN
PartitionName=here Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
}

start() {
  programs=`missing`
  if [ -n "$programs" ]; then
    echo "slurm-here: please install slurm-wlm and munge; missing:" $programs >&2
    return 1
  fi
  mkdir -p "$folder/state" "$folder/spool" && folder=`cd "$folder" && pwd` || return 1
  stop_all
  chmod 755 "$folder"
  configuration > "$folder/slurm.conf"
  if [ ! -f "$folder/munge.key" ]; then
    (umask 077 && dd if=/dev/urandom bs=128 count=1 of="$folder/munge.key" 2> /dev/null)
  fi
  munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
    --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" \
    --seed-file="$folder/munged.seed" || return 1
  slurmctld -f "$folder/slurm.conf" || return 1
  slurmd -f "$folder/slurm.conf" || return 1
  SLURM_CONF=$folder/slurm.conf
  export SLURM_CONF
  for wait in `seq 60`; do
    if sinfo -h -o %T 2> /dev/null | grep -q '^idle'; then
      echo "slurm-here: `sinfo -h -o '%n: %c cores, %m MB'`"
      echo "export SLURM_CONF=$SLURM_CONF"
      return 0
    fi
    sleep 0.5
  done
  echo "slurm-here: no node after 30 s; see the logs in $folder" >&2
  tail -n 3 "$folder"/*.log >&2
  stop_all
  return 1
}

case $action in
  start) start ;;
  stop) stop_all ;;
  *) echo "slurm-here: start or stop, not '$action'" >&2; exit 2 ;;
esac
