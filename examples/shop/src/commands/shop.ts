import { endWithReader } from '#shared/end-with-reader'
import { run } from './run.ts'

/** `npm run shop NAME`: the commands of the operator. */
const { code, stdout, stderr } = await run(process.argv.slice(2), process.env)
process.exitCode = code
endWithReader()
process.stderr.write(stderr)
process.stdout.write(stdout)
