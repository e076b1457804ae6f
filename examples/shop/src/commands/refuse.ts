import Fastify from 'fastify'
import { isUnavailable } from '../database/errors.ts'
import { remedyForPooler } from '../database/pooler.ts'
import { loggerOptions } from '../operations/logging.ts'
import { placeOf } from '../operations/outages.ts'
import { givenIn } from '../settings/files.ts'
import { inSettings } from '../settings/option-names.ts'

/** Prints why the program cannot start, and exits. */
export function refuse (error: unknown, settings: Parameters<typeof reasonOf>[1] = {}): never {
  process.stderr.write(`${reasonOf(error, settings)}\n`)
  process.exit(1)
}

/**
 * The message for an error that ends a program.
 *
 * @param settings - as in `process.env`, or read
 */
export function reasonOf (
  error: unknown,
  { IDP_SECOND_ISSUER: second }: { readonly IDP_SECOND_ISSUER?: string } = {}
): string {
  const { code, message, stack = String(error) } = error as { code?: string, message: string, stack?: string }
  // An error with a code is about settings, data or the environment, such as a port in use, and needs no stack.
  // Node has no message for a host that responds on none of its addresses.
  if (code === undefined && !isUnavailable(error as Error)) return stack
  const told = code?.startsWith('DUAL_AUTH_') === true ? inSettings(message, second) : message
  return [told || `Cannot connect: ${code}`, remedyForPooler({ message })].filter(Boolean).join('. ')
}

/**
 * Logs in one line why the server cannot start, prints it for whoever started it by hand, and exits. Neither has
 * credentials, nor a stack unless it is a bug.
 */
export function refuseInLog (error: unknown, environment: NodeJS.ProcessEnv): never {
  const { given: { API_KEY_MARKER: marker = 'shop', DATABASE_URL: url = '' } } = givenIn(environment, ['DATABASE_URL'])
  // Its logger; the app itself may be what could not be built.
  const { log } = Fastify({ logger: loggerOptions({ LOG_LEVEL: 'info', API_KEY_MARKER: marker }) })
  const { code, syscall, address, port } = error as { code?: string, syscall?: string, address?: string, port?: number }
  const isDatabase = isUnavailable(error as Error)
  const place = {
    ...syscall === 'listen' && { setting: 'PORT', host: `${address}:${port}` },
    ...isDatabase && placeOf('database', { DATABASE_URL: url })
  }
  if (code === undefined && !isDatabase) log.fatal({ err: error }, 'The server cannot start')
  else log.fatal({ code, ...place }, `The server cannot start: ${reasonOf(error, environment)}`)
  refuse(error, environment)
}
