// Nothing here runs: it is compiled, and that it compiles is the test.
import type { Meter, Tracer } from '@opentelemetry/api'
import { telemetry } from '../../../src/extensions/telemetry/index.ts'
import type { Extension } from '../../../src/index.ts'

export const extension: Extension = telemetry({ tracer: {} as Tracer, meter: {} as Meter })
