import { refuseInLog } from './commands/refuse.ts'
import { serve } from './commands/serve.ts'
import { settingsFromEnvironment } from './settings/settings.ts'
import { risksIn } from './settings/risks.ts'

/** The server as it runs in production: configured by environment variables alone. */
try {
  await serve(settingsFromEnvironment(process.env, {}, risksIn))
} catch (error) {
  refuseInLog(error, process.env)
}
