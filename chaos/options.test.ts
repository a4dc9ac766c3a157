import { expect, test } from 'vitest'
import { FAULT_KINDS, TARGETS } from './faults.ts'
import { parseOptions } from './options.ts'

/** The options, or the lines of the error. */
function options(...args: string[]): object | undefined {
  try {
    return parseOptions(args, () => 0.5)
  } catch (error) {
    return (error as Error).message.split('\n')
  }
}

test('every option has a default', () => {
  expect(options()).toMatchObject({
    turns: 500,
    faults: 100,
    seconds: undefined,
    sessions: 20,
    logins: 5,
    targets: TARGETS,
    kinds: FAULT_KINDS,
    natsServers: 1,
    isKept: false,
  })
})

test('the targets, kinds, duration and seed of the faults can be chosen', () => {
  const args =
    '--seconds 30 --kill nats,gateway --signal kill --sessions 6 --seed 9 --cluster --keep'
  expect(options(...args.split(' '))).toMatchObject({
    seconds: 30,
    targets: ['gateway', 'nats'],
    kinds: ['kill'],
    sessions: 6,
    seed: 9,
    natsServers: 3,
    isKept: true,
  })
})

test('a rolling restart cannot be combined with other faults, and leaves the only nats-server alone', () => {
  expect(options('--signal', 'term-one-instance')).toMatchObject({
    kinds: ['term-one-instance'],
    targets: ['gateway', 'orchestrator', 'mcp-supervisor', 'llm-worker'],
  })
  expect(options('--signal', 'term-one-instance,kill')).toEqual([
    expect.stringMatching(/^--signal must be .* not "term-one-instance"$/),
  ])
})

test('the data of a cluster cannot be damaged', () => {
  expect(options('--signal', 'corrupt,kill')).toMatchObject({ kinds: ['kill', 'corrupt'] })
  expect(options('--signal', 'corrupt', '--cluster')).toEqual([
    expect.stringContaining('--signal corrupt excludes --cluster'),
  ])
})

test('pages follow some of the sessions, without logins and losses', () => {
  expect(options('--pages', '4')).toMatchObject({ pages: 4 })
  expect(options('--pages', '4', '--sessions', '3')).toEqual([
    expect.stringContaining('--pages must be at most --sessions'),
  ])
  for (const more of ['--auth', '--signal=corrupt']) {
    expect(options('--pages', '1', more)).toEqual([expect.stringContaining('--pages excludes')])
  }
})

test('containers are killed, stopped and paused, and their clients authenticate', () => {
  expect(options('--compose')).toMatchObject({
    isCompose: true,
    hasAuth: true,
    kinds: ['kill', 'term', 'stop'],
  })
  expect(options('--compose', '--signal', 'hostile-server')).toEqual([
    '--signal must be all or some of kill, term, stop, not "hostile-server"',
  ])
  expect(options('--compose', '--cluster')).toEqual([expect.stringContaining('excludes --cluster')])
})

test('one error names all wrong options', () => {
  expect(
    options('--turns', '0', '--kill', 'gateway,router', '--signal', '', '--seconds', 'x'),
  ).toEqual([
    '--seconds excludes --turns and --faults: give one or the other',
    '--turns must be a whole number from 1 to 4294967295, not "0"',
    '--seconds must be a whole number from 1 to 86400, not "x"',
    '--kill must be all or some of gateway, orchestrator, mcp-supervisor, llm-worker, nats, not "router"',
    '--signal must be all or some of kill, term, stop, hostile-server, disk-full, corrupt, clock, not ""',
  ])
  expect(options('--tunrs', '5')).toEqual([expect.stringContaining('--tunrs')])
  expect(options('500')).toEqual([expect.stringContaining('500')])
})

test('--help asks for the usage', () => {
  expect(parseOptions(['--help'])).toBeUndefined()
})

test('the users of some sessions log in, unless pages follow them or they chat with containers', () => {
  expect(options('--sessions', '3')).toMatchObject({ logins: 3 })
  expect(options('--logins', '0')).toMatchObject({ logins: 0 })
  expect(options('--pages', '4')).toMatchObject({ logins: 0 })
  expect(options('--compose')).toMatchObject({ logins: 0 })
  expect(options('--logins', '4', '--sessions', '3')).toEqual([
    expect.stringContaining('--logins must be at most --sessions'),
  ])
  expect(options('--logins', '4', '--pages', '4')).toEqual([
    expect.stringContaining('--logins excludes --pages'),
  ])
})
