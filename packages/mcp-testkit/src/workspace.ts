import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { onTestFinished } from 'vitest'

import { fixturePath } from './fixture-path.ts'
import { isAlive, processesWith } from './processes.ts'

/** The compiled modules of fixtures, which start in half the time with them. */
const NODE_COMPILE_CACHE = join(tmpdir(), 'mcp-host-test-modules')

/** An entry of `mcp.json` that starts a fixture. */
export interface FixtureConfig {
  readonly type: 'stdio'
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

/**
 * A temporary folder for one test. Every fixture gets a path in the folder as its last argument, so that
 * disposing finds, and kills, the processes that a broken host left behind.
 */
export class Workspace implements AsyncDisposable {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  static async open(): Promise<Workspace> {
    return new Workspace(await mkdtemp(join(tmpdir(), 'mcp-host-')))
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  /** The configuration of a fixture. */
  fixture(name: string, ...args: string[]): FixtureConfig {
    return {
      type: 'stdio',
      command: process.execPath,
      args: [fixturePath(name), ...args, this.path('end')],
      env: { NODE_COMPILE_CACHE },
      cwd: this.folder,
    }
  }

  async write(name: string, content: unknown): Promise<string> {
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    await writeFile(this.path(name), text)
    return this.path(name)
  }

  /** The lines of a file; none when the file does not exist. */
  async lines(name: string): Promise<string[]> {
    const text = await readFile(this.path(name), 'utf8').catch(() => '')
    return text.split('\n').filter((line) => line !== '')
  }

  /** The running processes of this test's fixtures. */
  processes(): number[] {
    return processesWith(this.folder)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of this.processes()) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** A workspace that is disposed after the test, including a test that timed out. */
export async function openWorkspace(): Promise<Workspace> {
  const workspace = await Workspace.open()
  onTestFinished(() => workspace[Symbol.asyncDispose]())
  return workspace
}
