import type { GuardedProcess } from './spawn-guarded.ts'

/** Whether the program ends before the limit passes; no timer is left behind. */
export async function exitsWithin(process: GuardedProcess, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, limitMs, false)
  })
  const exited = process.exited.then(() => true)
  return Promise.race([exited, late]).finally(() => clearTimeout(timer))
}
