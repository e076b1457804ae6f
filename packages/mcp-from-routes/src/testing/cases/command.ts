import { agentOf, type Agent } from '../agent.ts'
import { MCP_FROM_ROUTES_CASES_FILE } from '../errors.ts'
import type { TestedApp } from '../in-process.ts'
import { clientSdk } from '../sdk.ts'
import type { McpTool } from '../../types.ts'
import { makesApps, withApp } from '../../cli/app.ts'
import type { Answer, CasesCommand, Surroundings } from '../../cli/arguments.ts'
import type { WholeCase } from './case.ts'
import { endpointFrom } from './endpoint.ts'
import { casesFromFile } from './file.ts'
import { faultsOf } from './judge.ts'
import { checkKnown } from './known.ts'
import { reportFrom, textFromReport, type JudgedRun } from './report.ts'
import { runCase, type Run } from './run.ts'

/** Tries the cases of a file with a model. */
export async function cases (command: CasesCommand, { cwd, env }: Surroundings): Promise<Answer> {
  const { file, module, only, atOnce, json } = command
  const endpoint = endpointFrom(command, env)
  const { path, cases: all } = await casesFromFile(file, cwd)
  const chosen = all.filter(({ says }) => says.includes(only))
  if (chosen.length === 0) throw new MCP_FROM_ROUTES_CASES_FILE(file, `no case says ${JSON.stringify(only)}`)
  if (chosen.some(({ steps }) => steps > 1) && !await makesApps(module, cwd)) {
    throw new MCP_FROM_ROUTES_CASES_FILE(
      file,
      `has cases with steps, each run of which needs an app of its own: ${module} must export a function that makes it, ` +
        'as its default or as buildApp'
    )
  }
  const { mismatch } = await clientSdk()
  const judged = chosen.map((one) => ({ one, runs: [] as JudgedRun[] }))

  return await withApp(module, cwd, async (opened) => {
    const app = opened as unknown as TestedApp & { readonly mcpTools: readonly McpTool[] }
    const agents: Agent[] = []
    for (const [index, one] of all.entries()) {
      const agent = await agentFor(one, path, app)
      const listed = await agent.tools()
      const names = [...app.mcpTools, ...listed].map(({ name }) => name)
      checkKnown(one, index, file, { listed, names, mismatch })
      if (chosen.includes(one)) agents.push(agent)
    }
    const runOnce = async (one: WholeCase, agent: Agent): Promise<Run> =>
      one.steps === 1
        ? await runCase(one, agent, endpoint)
        : await withApp(module, cwd, async (own) => {
          return await runCase(one, await agentFor(one, path, own as unknown as TestedApp), endpoint)
        })
    const jobs = judged.flatMap(({ one, runs }, index) =>
      Array.from({ length: one.repeats }, () => async () => {
        const { turns } = await runOnce(one, agents[index] as Agent)
        runs.push({ turns, faults: faultsOf(one, turns.flatMap((turn) => turn.calls), mismatch) })
      })
    )
    const failed = await inTurn(jobs, atOnce)
    const report = reportFrom(judged, endpoint.model)
    if (failed !== undefined && report.requests === 0) throw failed
    const out = json ? `${JSON.stringify(report, null, 2)}\n` : textFromReport(report)
    return failed === undefined
      ? { code: report.ok ? 0 : 1, out, err: '' }
      : { code: 2, out, err: `${failed.message}\n` }
  })
}

async function agentFor ({ headers, person }: WholeCase, path: string | undefined, app: TestedApp): Promise<Agent> {
  return await agentOf(app, {
    headers,
    ...path !== undefined && { path },
    ...person !== undefined && { answer: () => person }
  })
}

/**
 * Does jobs, so many at once. After one has failed, no other is begun.
 *
 * @returns the first error
 */
async function inTurn (jobs: ReadonlyArray<() => Promise<void>>, atOnce: number): Promise<Error | undefined> {
  const left = jobs.values()
  let failed: Error | undefined
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (const job of left) {
      if (failed !== undefined) return
      await job().catch((error: Error) => {
        failed ??= error
      })
    }
  }))
  return failed
}
