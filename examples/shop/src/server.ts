import { configFromEnvironment } from './settings/config.ts'
import { risksIn } from './settings/risks.ts'
import { refuse, serve } from './commands/serve.ts'

/** The server as it runs in production: configured by the environment alone. */
try {
  await serve(configFromEnvironment(process.env, {}, risksIn))
} catch (error) {
  refuse(error)
}
