#!/bin/sh
# Copies the file of a running hub into a new folder:
#
#     backup.sh /var/lib/holdfast/hub.db /backup/holdfast-monday
#
# SQLite writes a log, FILE-wal, and now and then copies its pages into FILE. A log contains
# everything that was written into FILE since the log began, so FILE, copied first, and the log,
# copied second, are one moment. A log that restarted meanwhile has other marks in its first 32
# bytes: then both are copied again. The copy has the key of the hub, so nobody else may read it.
set -eu
umask 077

file=$1
to=$2
name=$(basename "$file")
[ -f "$file" ] || { echo "there is no file $file" >&2; exit 1; }
mkdir "$to"

give_up() {
  rm -r "$to"
  echo "$1" >&2
  exit 1
}

marks() {
  [ ! -e "$file-wal" ] || head -c 32 "$file-wal" | od -A n -t x1
}

for _ in 1 2 3 4 5 6 7 8; do
  began=$(marks)
  rm -f "$to/$name-wal"
  cp "$file" "$to/$name" || give_up "$file could not be copied"
  # A hub that closed meanwhile has no log any more, so the marks differ.
  [ -z "$began" ] || cp "$file-wal" "$to/$name-wal" || [ ! -e "$file-wal" ] ||
    give_up "$file-wal could not be copied"
  ended=$(marks)
  [ "$ended" != "$began" ] || exit 0
  sleep 1
done
give_up "$file changes faster than it can be copied: stop the hub, or take a snapshot of its disk"
