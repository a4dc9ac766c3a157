import { execFile, spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { DockerComposeEnvironment } from 'testcontainers'
import { eventually } from './eventually.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const run = promisify(execFile)
const MAX_OUTPUT_BYTES = 2 ** 26
const HEALTHY_LIMIT_MS = 60_000

/** What compose projects need and this machine lacks. */
export function missingForCompose(): string | undefined {
  const needs = [
    { what: 'Docker Compose', args: ['compose', 'version'] },
    { what: 'a running container engine', args: ['info'] },
  ]
  return needs.find(({ args }) => spawnSync('docker', args).status !== 0)?.what
}

export interface ComposeProjectOptions {
  /** Keeps containers and volumes apart from those of other projects. Images are shared. */
  readonly name: string
  /** A folder for its file of overrides. */
  readonly folder: string
  /** Fields of services that replace or extend those of the compose file. */
  readonly services: Readonly<Record<string, object>>
  /** The same for volumes. */
  readonly volumes?: Readonly<Record<string, object>>
  /** Variables that the compose file reads, beside the environment. */
  readonly env: Readonly<Record<string, string>>
}

/** What `docker container inspect` says about a container. */
export interface ContainerState {
  readonly Image: string
  readonly Config: { readonly User: string; readonly Env: readonly string[] }
  readonly HostConfig: object
  readonly State: { readonly Running: boolean; readonly Health?: { readonly Status: string } }
}

/**
 * The containers of `docker-compose.yml`. Their volumes are removed with them, also when the process is killed: by the
 * reaper of testcontainers.
 */
export class ComposeProject implements AsyncDisposable {
  readonly #files: string[]
  readonly #env: Record<string, string>
  readonly #name: string

  private constructor({ name, env }: ComposeProjectOptions, files: string[]) {
    this.#name = name
    this.#env = { ...env }
    this.#files = files
  }

  /** Builds the images, and starts nothing. */
  static async build(options: ComposeProjectOptions): Promise<ComposeProject> {
    const overrides = join(options.folder, 'overrides.json')
    const { services, volumes = {} } = options
    await writeFile(overrides, JSON.stringify({ services, volumes }))
    const project = new ComposeProject(options, ['docker-compose.yml', overrides])
    await project.compose('--profile', 'tools', 'build')
    return project
  }

  /** Runs a command of docker. Returns its output; rejects with its errors. */
  docker(...args: string[]): Promise<string> {
    return this.#run('docker', args, {})
  }

  /** Runs a command of Docker Compose in this project. */
  compose(...args: string[]): Promise<string> {
    const files = this.#files.flatMap((file) => ['--file', file])
    return this.docker(
      'compose',
      '--ansi',
      'never',
      '--project-name',
      this.#name,
      ...files,
      ...args,
    )
  }

  /** Changes variables that the compose file reads, as an edit of `.env` does. */
  set(env: Readonly<Record<string, string>>): void {
    Object.assign(this.#env, env)
  }

  /** Runs `deploy/compose/roll.sh` in this project. */
  roll(...args: string[]): Promise<string> {
    const COMPOSE_FILE = this.#files.join(delimiter)
    const env = { COMPOSE_FILE, COMPOSE_PROJECT_NAME: this.#name }
    return this.#run(join(root, 'deploy', 'compose', 'roll.sh'), args, env)
  }

  async #run(
    command: string,
    args: readonly string[],
    more: Readonly<Record<string, string>>,
  ): Promise<string> {
    const env = { ...process.env, ...this.#env, ...more }
    const { stdout } = await run(command, args, { cwd: root, env, maxBuffer: MAX_OUTPUT_BYTES })
    return stdout
  }

  /** Starts these services and what they depend on, by default all. Resolves when they are healthy. */
  async up(services?: readonly string[]): Promise<void> {
    await new DockerComposeEnvironment(root, this.#files)
      .withProjectName(this.#name)
      .withEnvironment(this.#env)
      .up(services === undefined ? undefined : [...services])
  }

  /** The ids of the running containers of a service. */
  async containersOf(service: string): Promise<string[]> {
    return (await this.compose('ps', '--quiet', service)).trim().split('\n')
  }

  async inspect(id: string): Promise<ContainerState> {
    const [state] = JSON.parse(await this.docker('container', 'inspect', id)) as ContainerState[]
    if (state === undefined) throw new Error(`there is no container ${id}`)
    return state
  }

  /** Starts a container that was stopped or killed. Resolves when it is healthy. */
  async start(id: string): Promise<void> {
    await this.docker('start', id)
    const isHealthy = async (): Promise<boolean> =>
      (await this.inspect(id)).State.Health?.Status === 'healthy'
    await eventually(isHealthy, { what: `a healthy container ${id}`, limitMs: HEALTHY_LIMIT_MS })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.compose('down', '--volumes', '--timeout', '1')
  }
}
