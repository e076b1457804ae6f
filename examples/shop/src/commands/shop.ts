import { run } from './run.ts'

/** `npm run shop`: the commands of whoever runs the server. */
const { code, stdout, stderr } = await run(process.argv.slice(2), process.env)
process.stderr.write(stderr)
process.stdout.write(stdout)
process.exitCode = code
