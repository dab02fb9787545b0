/**
 * Imported for its side effect: only the current user can read files that this process and its child processes create.
 * Backups, exports and the local state contain customer data.
 */
process.umask(0o077)
