/**
 * Imported for its effect: what this process and those that it starts write, nobody but its user can read. Backups,
 * exports and the local state hold the data of organizations.
 */
process.umask(0o077)
