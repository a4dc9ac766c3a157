import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** A module that stops its process as soon as the last handler of signals is set. */
const STOPS_ITSELF = `data:text/javascript,${encodeURIComponent(`
  const { on } = process
  process.on = function (event, handler) {
    on.call(this, event, handler)
    if (event === 'SIGHUP') process.kill(process.pid, 'SIGTERM')
    return this
  }`)}`

const codeOf = (args: readonly string[]): Promise<unknown> =>
  new Promise((resolve) => {
    const program = join(import.meta.dirname, 'run.mjs')
    execFile(process.execPath, [...args, program, 'keys', '--help'], (error) => {
      resolve(error?.code ?? 0)
    })
  })

test('a signal that comes before the program of a command runs ends the command', async () => {
  expect(await codeOf([])).toBe(0)
  expect(await codeOf([`--import=${STOPS_ITSELF}`])).toBe(143)
})
