import { once } from 'node:events'

import { expect, test } from 'vitest'

import { GUARDIAN_SCRIPT } from './guardian-script.ts'
import { launch } from './launch.ts'

/** What the script would kill after it has read `input`. */
async function killedAfter(input: string): Promise<string[]> {
  const script = `kill() { echo "$*" >&2; }\n${GUARDIAN_SCRIPT}`
  const shell = launch('/bin/sh', ['-c', script], {
    env: {},
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: false,
  })
  const chunks: Buffer[] = []
  shell.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk))
  shell.stdin?.end(input)
  await once(shell, 'close')
  return Buffer.concat(chunks).toString().split('\n').slice(0, -1)
}

test.each([
  ['what was added', '+12\n+34\n', ['-9 -12', '-9 -34']],
  ['not what was taken off', '+12\n+34\n+56\n-34\n', ['-9 -12', '-9 -56']],
  ['nothing, when all is taken off', '+12\n+34\n-12\n-34\n', []],
  ['not a group whose number is part of another', '+112\n+12\n-12\n-11\n', ['-9 -112']],
  ['not what only half arrived', '+12\n+34', ['-9 -12']],
  ['never itself or everyone', '+0\n+1\n+\n+-1\n+01\nx\n\n+ 5\n', []],
])('the guardian kills %s', async (_name, input, killed) => {
  expect(await killedAfter(input)).toEqual(killed)
})
