import { run } from './run.ts'

const { code, out, err } = await run(process.argv.slice(2), { cwd: process.cwd(), env: process.env })
// The module may have opened what keeps a process alive, such as a pool of connections.
process.stderr.write(err, () => process.stdout.write(out, () => process.exit(code)))
