import type { TraceContext } from '../../call/trace.ts'

/*
 * The parts of `@opentelemetry/api` that are used, as structural types: any version 1 of it fits, and hosts without
 * telemetry do not install it.
 */

/** What attributes can hold here. */
export type Attributes = Readonly<Record<string, string | number>>

/** @see [SpanContext](https://opentelemetry.io/docs/specs/otel/trace/api/#spancontext) */
interface SpanContext {
  readonly traceId: string
  readonly spanId: string
  readonly traceFlags: number
}

export interface Span {
  spanContext(): SpanContext
  setAttributes(attributes: Attributes): unknown
  setStatus(status: { readonly code: number }): unknown
  end(): void
}

/** @see [Context](https://opentelemetry.io/docs/specs/otel/context/) */
interface Context {
  getValue(key: symbol): unknown
}

interface SpanOptions {
  readonly kind: number
  readonly attributes: Attributes
  readonly links: Array<{ readonly context: SpanContext }>
}

/** A tracer, as `trace.getTracer(name)` returns it. */
interface Tracer {
  startActiveSpan<R>(name: string, options: SpanOptions, context: Context, run: (span: Span) => R): R
  startActiveSpan<R>(name: string, options: SpanOptions, run: (span: Span) => R): R
}

/** A meter, as `metrics.getMeter(name)` returns it. */
interface Meter {
  createHistogram(
    name: string,
    options: {
      readonly unit: string,
      readonly description: string,
      readonly advice: { readonly explicitBucketBoundaries: number[] }
    }
  ): { record(value: number, attributes: Attributes): void }
}

/** The option `telemetry`. */
export interface Telemetry {
  /** Makes a span of each tool call, and of each other message. Default is none. */
  readonly tracer?: Tracer
  /** Measures how long they take. Default is none. */
  readonly meter?: Meter
  /**
   * Whether spans have the arguments and the results of calls, as JSON. They may be large, and contain secrets and
   * personal data. Default is false.
   */
  readonly content?: boolean
}

/** `SpanKind.SERVER` */
export const SERVER = 1
/** `SpanStatusCode.ERROR` */
export const ERROR = 2

/*
 * The tracing SDK of the host registers its context manager and its propagator for the whole process under these
 * symbols, for every version 1 of `@opentelemetry/api`. Without them there is no surrounding span, and no parent from a
 * message.
 */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN')

type Carrier = Record<string, unknown>
interface Registered {
  readonly context?: { active(): Context }
  readonly propagation?: {
    extract(context: Context, carrier: Carrier, getter: typeof GETTER): Context,
    inject(context: Context, carrier: Carrier, setter: typeof SETTER): void
  }
}

const GETTER = {
  get: (carrier: Carrier, key: string): string | undefined => carrier[key] as string | undefined,
  keys: (carrier: Carrier): string[] => Object.keys(carrier)
}
const SETTER = {
  set: (carrier: Carrier, key: string, value: string): void => {
    carrier[key] = value
  }
}

function registered (): Registered {
  return (Reflect.get(globalThis, REGISTERED) ?? {}) as Registered
}

/** Where a new span belongs. */
interface Place {
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
  return {
    context: parent,
    transport: parent.getValue(SPAN) === ambient.getValue(SPAN)
      ? undefined
      : ambient.getValue(SPAN) as Span | undefined
  }
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
