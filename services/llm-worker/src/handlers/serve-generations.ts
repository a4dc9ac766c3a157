import { generate } from '@mcp-host/contracts'
import type { GenerateDeps } from './generate.ts'
import { runAndRecord } from './generate.ts'

export interface ServeGenerationsDeps extends GenerateDeps {
  /** Work in flight, which draining waits for. */
  readonly running: Set<Promise<unknown>>
}

/**
 * Takes generations from the queue until disposed, while fewer than `maxRunning` run. A full worker leaves requests in
 * the queue for others.
 */
export function serveGenerations(deps: ServeGenerationsDeps, maxRunning: number): Disposable {
  const { bus } = deps
  let queue: Disposable | undefined
  let running = 0
  let isOpen = true
  const update = (): void => {
    if (isOpen && running < maxRunning) {
      queue ??= bus.serve(generate, {}, (served) => {
        const run = runAndRecord(deps, served).finally(() => {
          deps.running.delete(run)
          running--
          update()
        })
        deps.running.add(run)
        running++
        update()
        return { worker: bus.id }
      })
    } else {
      queue?.[Symbol.dispose]()
      queue = undefined
    }
  }
  update()
  return {
    [Symbol.dispose]() {
      isOpen = false
      update()
    },
  }
}
