// `npm start` in a folder of its own, for each test of a file.
import { join } from 'node:path'
import type { Program } from '@mcp-host/testkit'
import { eventually, isAlive, runProgram, testFolder } from '@mcp-host/testkit'
import { freePort } from '@mcp-host/tools/host'
import { afterEach, beforeEach } from 'vitest'

export class StartStage {
  /** Ends with the test. */
  cleanup = new AsyncDisposableStack()
  /** Settings of the host. */
  env: Record<string, string> = {}

  /** Opens a stage before each test of the calling file, and closes it after the test. */
  static forEachTest(): StartStage {
    const stage = new StartStage()
    beforeEach(async () => {
      stage.cleanup = new AsyncDisposableStack()
      const folder = stage.cleanup.use(await testFolder())
      stage.env = {
        DATA_DIR: join(folder.path, 'data'),
        PORT: String(await freePort()),
        LLM_PROVIDER: 'demo',
        DEMO_TOKENS_PER_SECOND: '0',
      }
    })
    afterEach(() => stage.cleanup.disposeAsync())
    return stage
  }

  async start(more: Record<string, string> = {}): Promise<Program> {
    return this.cleanup.use(await runProgram(['start'], { ...this.env, ...more }))
  }
}

export async function expectNoProcesses(pids: readonly number[]): Promise<void> {
  await eventually(async () => !(await Promise.all(pids.map(isAlive))).includes(true), {
    limitMs: 5_000,
    what: `the end of ${pids.join(', ')}`,
  })
}
