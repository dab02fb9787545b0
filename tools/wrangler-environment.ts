/**
 * Turns off what wrangler serves and stores on this machine beside the Workers. Everything that starts it imports this
 * first: the commands, `npm run wrangler` and the tests.
 */
Object.assign(process.env, {
  // Serves SQL on every database, and KV and R2, without a credential and on the port of the service.
  X_LOCAL_EXPLORER: 'false',
  // Stores the URLs of all requests, with the tokens of feeds and the texts of searches.
  X_LOCAL_OBSERVABILITY: 'false',
  // Wrangler's log file has the URLs, too.
  WRANGLER_WRITE_LOGS: 'false',
})
