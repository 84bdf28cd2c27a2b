# Direct links beside the map that they are from, and beside those of another recording.
