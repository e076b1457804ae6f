import { configFromEnvironment } from './config.ts'
import { risksIn } from './risks.ts'
import { refuse, serve } from './serve.ts'

/** The server as it runs in production: configured by the environment alone. */
try {
  await serve(configFromEnvironment(process.env, {}, risksIn))
} catch (error) {
  refuse(error)
}
