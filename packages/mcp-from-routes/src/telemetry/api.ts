/*
 * The parts of `@opentelemetry/api` that are used, as structural types: any version 1 of it fits, and hosts without
 * telemetry do not install it.
 */

/** What attributes can hold here. */
export type Attributes = Readonly<Record<string, string | number>>

/** @see [SpanContext](https://opentelemetry.io/docs/specs/otel/trace/api/#spancontext) */
export interface SpanContext { readonly traceId: string, readonly spanId: string, readonly traceFlags: number }

export interface Span {
  spanContext (): SpanContext
  setAttributes (attributes: Attributes): unknown
  setStatus (status: { readonly code: number }): unknown
  end (): void
}

/** @see [Context](https://opentelemetry.io/docs/specs/otel/context/) */
export interface Context { getValue (key: symbol): unknown }

export interface SpanOptions {
  readonly kind: number
  readonly attributes: Attributes
  readonly links: Array<{ readonly context: SpanContext }>
}

/** A tracer, as `trace.getTracer(name)` returns it. */
export interface Tracer {
  startActiveSpan<R> (name: string, options: SpanOptions, context: Context, run: (span: Span) => R): R
  startActiveSpan<R> (name: string, options: SpanOptions, run: (span: Span) => R): R
}

/** A meter, as `metrics.getMeter(name)` returns it. */
export interface Meter {
  createHistogram (name: string, options: { readonly unit: string, readonly description: string, readonly advice: { readonly explicitBucketBoundaries: number[] } }): { record (value: number, attributes: Attributes): void }
}

/** The option `telemetry`. */
export interface Telemetry {
  /** Makes a span of each tool call, and of each other message. Default is none. */
  readonly tracer?: Tracer
  /** Measures how long they take. Default is none. */
  readonly meter?: Meter
  /**
   * Whether spans have the arguments and the results of calls, as JSON. They may be large, and contain secrets and personal
   * data. Default is false.
   */
  readonly content?: boolean
}

/** `SpanKind.SERVER` */
export const SERVER = 1
/** `SpanStatusCode.ERROR` */
export const ERROR = 2
