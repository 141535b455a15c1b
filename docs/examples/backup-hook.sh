#!/bin/sh
# Copies the backups that the bucket does not have yet. One that failed to be copied yesterday is copied today.
set -eu
: "${BACKUP_REMOTE:=offsite:my-bucket/cleancast}"
rclone copy "$(dirname "$BACKUP_FILE")" "$BACKUP_REMOTE" \
  --include 'cleancast-*.backup' --immutable --s3-no-check-bucket --retries 5
# The copy must have the size of the original.
rclone check "$(dirname "$BACKUP_FILE")" "$BACKUP_REMOTE" \
  --include "$(basename "$BACKUP_FILE")" --one-way --size-only
