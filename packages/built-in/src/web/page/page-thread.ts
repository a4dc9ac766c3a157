/** The program of the thread of `convertPage`: converts one page. */
import { readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'

import type { PageJob } from './convert-page.ts'

const LOW_PRIORITY = 5

// On Linux a thread has a priority of its own, elsewhere this would be that of the whole process.
if (process.platform === 'linux' && getPriority() < LOW_PRIORITY) setPriority(LOW_PRIORITY)

// The WebAssembly of mdream and not its native code, which could end the whole process, and has no limit for memory.
const { initSync } = await import('mdream/wasm')
// The build puts it beside this program.
const program = import.meta.url.endsWith('.ts')
  ? import.meta.resolve('mdream/wasm/mdream_edge_bg.wasm')
  : new URL('mdream_edge_bg.wasm', import.meta.url)
initSync({ module: readFileSync(new URL(program)) })
const { toPage } = await import('./to-page.ts')

const job: PageJob = workerData
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- the target is a thread, not a window
parentPort?.postMessage(toPage(job))
