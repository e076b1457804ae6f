import { endWithReader } from '#shared/end-with-reader'
import { run } from './run.ts'

// A module may exit the process by itself. That is a failure, whatever its exit code.
const unanswered = (): void => {
  process.stderr.write('The module exited the process before its tools were read\n')
  process.exitCode = 2
}
process.on('exit', unanswered)
const { code, out, err } = await run(process.argv.slice(2), { cwd: process.cwd(), env: process.env })
process.off('exit', unanswered)
process.exitCode = code
// Not before: what the module itself prints is no output of the command.
endWithReader()
// The module may have opened what keeps a process alive, such as a pool of connections.
process.stderr.write(err, () => process.stdout.write(out, () => process.exit(code)))
