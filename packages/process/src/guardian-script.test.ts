import { text } from 'node:stream/consumers'

import { expect, test } from 'vitest'

import { eventually, isAlive } from '@mcp-host/mcp-testkit'
import { findTagged, startForking, startSleeping } from '../test/tagged.ts'
import { GUARDIAN_SCRIPT } from './guardian-script.ts'
import { launch } from './launch.ts'
import { readTag, TAG_NAME } from './process-table.ts'

/** The output of the script after it has read `input`. */
async function run(script: string, input: string, id: string): Promise<string> {
  const shell = launch('/bin/sh', ['-c', script, 'guardian', id], {
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
    detached: false,
  })
  shell.stdin?.end(input)
  return shell.stdout === null ? '' : text(shell.stdout)
}

/** The arguments of each `kill` after the script has read `input`. */
async function killedAfter(input: string): Promise<string[]> {
  const script = `kill() { echo "$*"; }\n${GUARDIAN_SCRIPT}`
  return (await run(script, input, crypto.randomUUID())).split('\n').slice(0, -1)
}

test.each([
  ['registered groups', '+12\n+34\n', ['-9 -12', '-9 -34']],
  ['no removed group', '+12\n+34\n+56\n-34\n', ['-9 -12', '-9 -56']],
  ['nothing when every group was removed', '+12\n+34\n-12\n-34\n', []],
  ['no group whose number is part of another', '+112\n+12\n-12\n-11\n', ['-9 -112']],
  ['no group whose line is incomplete', '+12\n+34', ['-9 -12']],
  ['neither itself nor all processes', '+0\n+1\n+\n+-1\n+01\nx\n\n+ 5\n', []],
])('the guardian kills %s', async (_name, input, killed) => {
  expect(await killedAfter(input)).toEqual(killed)
})

// No process has this number: the script searches for tags only when a group remains.
const REMAINING = '+999999999\n'

test('the guardian kills all processes with its tag, and no others', async () => {
  const id = crypto.randomUUID()
  const padding = { A: 'several\nlines', B: 'x'.repeat(10_000) }
  const doomed = await Promise.all([
    startSleeping({ [TAG_NAME]: `${id}.1` }),
    startSleeping({ [TAG_NAME]: `${id}.12`, ...padding }),
    startSleeping({ ...padding, [TAG_NAME]: `${id}.3` }),
  ])
  const others = await Promise.all([
    startSleeping({ [TAG_NAME]: `${crypto.randomUUID()}.1` }),
    startSleeping({ OTHER: `${id}.1` }),
    startSleeping({ [TAG_NAME]: `${id}0.1` }),
    startSleeping({}),
  ])
  await run(GUARDIAN_SCRIPT, REMAINING, id)
  await eventually(() => doomed.filter(isAlive).length === 0)
  expect(others.filter(isAlive)).toEqual(others)
})

test('the guardian kills a chain of forking processes', async () => {
  // A single chain could escape by chance.
  for (let chain = 0; chain < 3; chain += 1) {
    const id = crypto.randomUUID()
    await startForking({ [TAG_NAME]: `${id}.1` })
    await run(GUARDIAN_SCRIPT, REMAINING, id)
    expect(await findTagged(`${id}.1`)).toEqual([])
  }
}, 30_000)

test('the guardian does not search for tags when every group was removed', async () => {
  const id = crypto.randomUUID()
  const pid = await startSleeping({ [TAG_NAME]: `${id}.1` })
  await run(GUARDIAN_SCRIPT, '+999999999\n-999999999\n', id)
  expect(readTag(pid)).toBe(`${id}.1`)
})
