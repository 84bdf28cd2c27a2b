# What a developer does here. Everything is built in and below .build; the user's own
# library is never touched.
.POSIX:

BUILD = .build
LIBRARY = $(BUILD)/library
# Further arguments of R CMD INSTALL, such as --configure-args=--with-cuda=no
INSTALL_ARGS =
# The demo waits for no more than it shows: kernels for a GPU of this machine alone, no help.
DEMO_ARGS = --configure-args=--with-cuda=here --no-docs --no-byte-compile --no-test-load
WITH_LIBRARY = R_LIBS="`pwd`/$(LIBRARY)$${R_LIBS:+:$$R_LIBS}"

help:
	@echo 'make demo [FILE=recording.csv]  mine a recording, draw it into demo-output/'
	@echo '          TIME_UNIT=ms INTERVALS=5-15 MIN_COUNT=800   say how (delays in ms)'
	@echo 'make test                       run the tests'
	@echo '          FILTER=smap runs some files, WORKERS=4 so many side by side,'
	@echo '          TIMES=yes notes how long each takes in tests/times.csv'
	@echo 'make nightly                    all tests, searches and rules, with those that take'
	@echo '                                too long for every change'
	@echo 'make sanitize                   run them with checkers for addresses and races'
	@echo 'make sanitize-gpu               run every GPU kernel with those of CUDA'
	@echo 'make fuzz [SECONDS=120]         random calls, compared and watched; each finding is'
	@echo '          SEED=1 SUBJECT=wrong CASE=7   shown with the command that replays it'
	@echo 'make controls [SHORT=yes]       recordings that are asked what must be answered by no'
	@echo '          RECORDING=mouse ANALYSIS=spade QUESTION=halves   some rows of the table'
	@echo 'make guides [RECORDINGS=mouse]   the code of the guides, on other recordings'
	@echo 'make check                      R CMD check --as-cran, nothing but OK is accepted'
	@echo 'make portable                   the core for clang, arm64 and Windows, tested'
	@echo 'make check-cuda                 the package with older CUDA toolkits'
	@echo 'make bench                      measure, each script of bench/ in turn'
	@echo 'make peers [TORCH=yes]          measure beside the programs of others, which are'
	@echo '          PEERS_ARGS="gpu peers=kedm" installed into .build/peers; writes the CSVs'
	@echo '                                of vignette("performance")'
	@echo 'make lines                      count the lines of code, and who needs whom'
	@echo 'make docs                       NAMESPACE and man/ from the roxygen comments'
	@echo 'make site                       the guides, the reference and a gallery, into site/'
	@echo 'make coverage                   which share of the lines of R and C the tests run'
	@echo 'make setup                      install what all of these need'
	@echo 'make clean                      remove what they made'

setup:
	@sh tools/setup.sh

install: setup
	@sh tools/install.sh "$(LIBRARY)" $(INSTALL_ARGS)

demo:
	@sh tools/setup.sh demo
	@sh tools/install.sh "$(BUILD)/demo" $(DEMO_ARGS) $(INSTALL_ARGS)
	@R_LIBS="`pwd`/$(BUILD)/demo$${R_LIBS:+:$$R_LIBS}" Rscript tools/demo.R $${FILE:+"$$FILE"}

test: install
	@$(WITH_LIBRARY) sh tools/test.sh

nightly:
	@SYNFIRE_NIGHTLY=yes .ci/run

fuzz: install
	@$(WITH_LIBRARY) BUILD="$(BUILD)" SECONDS="$(SECONDS)" SEED="$(SEED)" \
	  SUBJECT="$(SUBJECT)" CASE="$(CASE)" WORKERS="$(WORKERS)" Rscript tools/fuzz/run.R

controls: install
	@$(WITH_LIBRARY) BUILD="$(BUILD)" SHORT="$(SHORT)" RECORDING="$(RECORDING)" \
	  ANALYSIS="$(ANALYSIS)" QUESTION="$(QUESTION)" WORKERS="$(WORKERS)" \
	  Rscript tools/controls/run.R

guides: install
	@$(WITH_LIBRARY) Rscript tools/guides.R $(RECORDINGS)

sanitize: setup
	@sh tools/sanitize.sh

sanitize-gpu: install
	@$(WITH_LIBRARY) sh tools/sanitize-gpu.sh

check: setup
	@sh tools/check.sh

rooms: setup
	@sh tools/check-rooms.sh

portable:
	@sh tools/check-portable.sh

check-cuda: setup
	@sh tools/check-cuda.sh

bench: install
	@for script in bench/*.R; do \
	  echo "== $$script"; \
	  $(WITH_LIBRARY) Rscript "$$script" || exit 1; \
	done

peers: install
	@TORCH="$(TORCH)" sh bench/peers/install.sh $(WHEELS)
	@$(WITH_LIBRARY) Rscript bench/peers/run.R $(PEERS_ARGS)
	@Rscript bench/peers/readme.R

lines: setup
	@Rscript tools/lines.R

docs: setup
	@sh tools/docs.sh

site:
	@sh tools/setup.sh site
	@SYNFIRE_CUDA_ARCH=none sh tools/install.sh "$(LIBRARY)" $(INSTALL_ARGS)
	@sh tools/site.sh "$(LIBRARY)"

coverage:
	@sh tools/setup.sh coverage
	@sh tools/copy.sh $(BUILD)/coverage-source
	@Rscript tools/coverage.R

clean:
	@./cleanup
	rm -rf $(BUILD) demo-output site

.PHONY: help setup install demo test nightly fuzz controls guides sanitize sanitize-gpu check rooms \
  portable check-cuda bench peers lines docs site coverage clean
