import type { TraceContext } from '../call/trace.ts'
import type { Context, Span } from './api.ts'

/*
 * The tracing SDK of the host registers its context manager and its propagator for the whole process under these symbols, for
 * every version 1 of `@opentelemetry/api`. Without them there is no surrounding span, and no parent from a message.
 */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN')

type Carrier = Record<string, unknown>
interface Registered {
  readonly context?: { active (): Context }
  readonly propagation?: {
    extract (context: Context, carrier: Carrier, getter: typeof GETTER): Context
    inject (context: Context, carrier: Carrier, setter: typeof SETTER): void
  }
}

const GETTER = { get: (carrier: Carrier, key: string): string | undefined => carrier[key] as string | undefined, keys: (carrier: Carrier): string[] => Object.keys(carrier) }
const SETTER = { set: (carrier: Carrier, key: string, value: string): void => { carrier[key] = value } }

function registered (): Registered {
  return (Reflect.get(globalThis, REGISTERED) ?? {}) as Registered
}

/** Where a new span belongs. */
export interface Place {
  readonly context: Context
  /** The surrounding span, if it is not the parent: that of the HTTP request that brought the message. */
  readonly transport: Span | undefined
}

/**
 * The place of a call's span: under the span that the message names, or else under the surrounding one.
 * @returns undefined if the host has no context manager
 */
export function placeOf (trace: TraceContext | undefined): Place | undefined {
  const { context, propagation } = registered()
  const ambient = context?.active()
  if (ambient === undefined) return undefined
  if (trace === undefined || propagation === undefined) return { context: ambient, transport: undefined }
  const parent = propagation.extract(ambient, { ...trace }, GETTER)
  return { context: parent, transport: parent.getValue(SPAN) === ambient.getValue(SPAN) ? undefined : ambient.getValue(SPAN) as Span | undefined }
}

/** The fields by which other requests continue the trace of the current span. */
export function currentTrace (): Readonly<Record<string, unknown>> {
  const { context, propagation } = registered()
  const carrier: Carrier = {}
  const active = context?.active()
  if (active !== undefined) propagation?.inject(active, carrier, SETTER)
  // The state of another trace, which a client may have sent, means nothing with this one.
  return carrier.traceparent === undefined ? carrier : { tracestate: undefined, ...carrier }
}
