import { refuse, serve } from './commands/serve.ts'
import { configFromEnvironment } from './settings/config.ts'
import { risksIn } from './settings/risks.ts'

/** The server as it runs in production: configured by environment variables alone. */
try {
  await serve(configFromEnvironment(process.env, {}, risksIn))
} catch (error) {
  refuse(error)
}
