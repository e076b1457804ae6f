import { endWithReader } from '#shared/end-with-reader'
import { run } from './run.ts'

endWithReader()
process.exitCode = await run(process.argv.slice(2), process)
