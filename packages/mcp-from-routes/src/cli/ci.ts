import { readFile } from 'node:fs/promises'

/** What a CI run says about itself. */
export interface CiRun {
  /** The branch that a pull request, or merge request, is to be merged into. */
  readonly target: string | undefined
  /** The repository's default branch. */
  readonly defaultBranch: string | undefined
  /** The commit that the branch was at before the push that started the run. */
  readonly before: string | undefined
}

/** CI services that set no `CI`: Azure Pipelines, TeamCity, Jenkins, CodeBuild. */
const SERVICES = ['TF_BUILD', 'TEAMCITY_VERSION', 'JENKINS_URL', 'CODEBUILD_BUILD_ID', 'GITHUB_ACTIONS']

/** Whether this is a CI run, where nobody reads what passed. */
export function isContinuous ({ CI = '', ...env }: NodeJS.ProcessEnv): boolean {
  return !/^(|0|false)$/i.test(CI) || SERVICES.some((name) => (env[name] ?? '') !== '')
}

/**
 * What GitHub Actions and GitLab CI tell; nothing elsewhere.
 *
 * @see [GitHub's variables](https://docs.github.com/actions/reference/workflows-and-actions/variables)
 * @see [GitLab's variables](https://docs.gitlab.com/ci/variables/predefined_variables/)
 */
export async function ciRunFrom (env: NodeJS.ProcessEnv): Promise<CiRun> {
  const event = await eventOf(env)
  const named = (name: unknown): string | undefined => typeof name === 'string' && name !== '' ? name : undefined
  return {
    target: named(env.GITHUB_BASE_REF) ?? named(env.CI_MERGE_REQUEST_TARGET_BRANCH_NAME),
    defaultBranch: named(Reflect.get(Object(event['repository']), 'default_branch')) ?? named(env.CI_DEFAULT_BRANCH),
    before: [env.GITHUB_EVENT_NAME === 'push' ? event['before'] : undefined, env.CI_COMMIT_BEFORE_SHA].find(isCommit)
  }
}

async function eventOf ({ GITHUB_EVENT_PATH }: NodeJS.ProcessEnv): Promise<Readonly<Record<string, unknown>>> {
  if (GITHUB_EVENT_PATH === undefined || GITHUB_EVENT_PATH === '') return {}
  return await readFile(GITHUB_EVENT_PATH, 'utf8').then((text) => Object(JSON.parse(text)), () => ({}))
}

/** Whether it is the id of a commit. A branch that is new was at one of zeros. */
function isCommit (id: unknown): id is string {
  return typeof id === 'string' && /^(?!0+$)[0-9a-f]{40,64}$/.test(id)
}
