import type { OfferedTool } from '@mcp-host/contracts'
import { expect, test } from 'vitest'
import { offeredTool, recordedTools } from './__fixtures__/offered-tools.ts'
import { planSteps } from './plan-steps.ts'

/** The calls a message leads to; `undefined` for a clause that leads to none. */
function calls(text: string, tools: readonly OfferedTool[]) {
  return planSteps(text, tools).map(({ choice }) =>
    choice?.missing.length === 0 ? [choice.tool.tool, choice.arguments] : undefined,
  )
}

const string = { type: 'string' }
const number = { type: 'number' }

test.each([
  ['list the directory examples/files', 'list_directory', { path: 'examples/files' }],
  ['list directory "my files"', 'list_directory', { path: 'my files' }],
  ['show the directory tree of examples', 'directory_tree', { path: 'examples' }],
  ['read the file examples/files/x.txt', 'read_file', { path: 'examples/files/x.txt' }],
  ['read the text file x.txt', 'read_text_file', { path: 'x.txt' }],
  ['read multiple files a.txt and b.txt', 'read_multiple_files', { paths: ['a.txt', 'b.txt'] }],
  ['write file hello world to new.txt', 'write_file', { path: 'new.txt', content: 'hello world' }],
  ['create a directory called examples/new', 'create_directory', { path: 'examples/new' }],
  ['move the file a.txt to b.txt', 'move_file', { source: 'a.txt', destination: 'b.txt' }],
  ['list allowed directories', 'list_allowed_directories', {}],
  ['echo hello world', 'echo', { message: 'hello world' }],
  ['echo <b>hi</b>', 'echo', { message: '<b>hi</b>' }],
  ['get me the sum of 2 and 3', 'get-sum', { a: 2, b: 3 }],
  ['get the env', 'get-env', {}],
])('with the real servers, "%s" calls %s', (text, tool, given) => {
  expect(calls(text, recordedTools())).toEqual([[tool, given]])
})

test.each([
  'hello',
  'who are you?',
  'what can you do?',
  'list my tools',
  'tell me a joke',
  'what is the capital of France?',
  'thank you, that was useful',
  'write a poem about the sea',
  'show me',
  'get me a coffee',
  'get the text of https://example.com/a.txt',
  'list the files in examples/files',
  'what is the sum of 2 and 3?',
  'is there an echo in the directory "examples"?',
])('with the real servers, "%s" calls nothing', (text) => {
  expect(calls(text, recordedTools())).toEqual([undefined])
})

test.each([
  'get the weather for Oslo',
  'get weather city=Oslo',
  'get_weather city: Oslo',
  'please getWeather in the city of Oslo',
])('"%s" finds the city among many tools', (text) => {
  const weather = offeredTool('get_weather', { city: string }, { description: 'Weather now' })
  expect(calls(text, [...recordedTools(), weather])).toEqual([['get_weather', { city: 'Oslo' }]])
})

/** A word nobody has seen, from a seed, so that a failure can be repeated. */
function strangeWord(seed: number): string {
  let state = seed * 7919 + 13
  return Array.from({ length: 5 + (seed % 4) }, () => {
    state = (state * 1103515245 + 12345) % 2 ** 31
    return 'bcdfghjklmnpqrstvwxyz'.charAt((state >> 8) % 21)
  }).join('')
}

const seeds = Array.from({ length: 25 }, (_, index) => index)

test.each(seeds)('a tool with random names is called in every spelling (%i)', (seed) => {
  const [one, two, argument] = [0, 1, 2].map((index) => strangeWord(seed * 3 + index)) as [
    string,
    string,
    string,
  ]
  const capitalised = two.charAt(0).toUpperCase() + two.slice(1)
  for (const name of [`${one}_${two}`, `${one}-${two}`, `${one}${capitalised}`, one]) {
    const others = recordedTools()
    const text = [...others, offeredTool(name, { [argument]: string })]
    for (const sentence of [
      `call ${name} with ${argument} Oslo`,
      `${name}: ${argument}=Oslo`,
      `use the tool ${name} with ${argument} "Oslo"`,
      `please run ${name} {"${argument}": "Oslo"}`,
      `${name} Oslo`,
    ]) {
      expect(calls(sentence, text), sentence).toEqual([[name, { [argument]: 'Oslo' }]])
    }
    const numeric = [...others, offeredTool(name, { [argument]: number })]
    expect(calls(`call ${name} with ${argument} 7`, numeric)).toEqual([[name, { [argument]: 7 }]])
  }
  const spaced = [...recordedTools(), offeredTool(`${one}_${two}`, { [argument]: string })]
  expect(calls(`${one} ${two}: ${argument}=Oslo`, spaced)).toEqual([
    [`${one}_${two}`, { [argument]: 'Oslo' }],
  ])
})

test('a tool whose name is an ordinary word is called by it only when that is said', () => {
  const tools = [...recordedTools(), offeredTool('list', { query: string })]
  expect(calls('list the files in examples/files', tools)).toEqual([undefined])
  expect(calls('call list with query open bugs', tools)).toEqual([['list', { query: 'open bugs' }]])
})

test('the server of a tool does not count, its safe name does', () => {
  const one = {
    ...offeredTool('echo', { message: string }),
    server: 'weather',
    safeName: 'weather__echo',
  }
  const two = { ...offeredTool('echo', { message: string }), server: 'b', safeName: 'b__echo' }
  expect(calls('weather in Oslo', [one])).toEqual([undefined])
  const three = { ...two, safeName: 'echo_7f3a' }
  for (const { safeName } of [two, three]) {
    const [step] = planSteps(`call ${safeName} with message hi`, [one, two, three])
    expect(step?.choice).toMatchObject({ missing: [], tool: { safeName } })
  }
})

test('the longest name counts', () => {
  const tools = [offeredTool('feed_cow', {}), offeredTool('feed_cow_twice', {})]
  expect(calls('feed the cow twice', tools)).toEqual([['feed_cow_twice', {}]])
})

test('a tool called by name that lacks an argument is not called without it', () => {
  const [step] = planSteps('call list_directory', recordedTools())
  expect(step?.choice).toMatchObject({ missing: ['path'] })
})

test.each([
  ['echo a, then get sum 1 and 2'],
  ['echo a; then get sum 1 and 2'],
  ['echo a and then get sum 1 and 2'],
  ['Echo a. Then get sum 1 and 2.'],
  ['first echo a\nafter that get sum 1 and 2'],
])('%j has two steps', (text) => {
  expect(calls(text, recordedTools())).toEqual([
    ['echo', { message: 'a' }],
    ['get-sum', { a: 1, b: 2 }],
  ])
})

test('"then" inside quotes does not begin a new step', () => {
  expect(calls('echo "now and then"', recordedTools())).toEqual([
    ['echo', { message: 'now and then' }],
  ])
})

test('a long message is understood in time that grows with its length', () => {
  // Quadratic time would outlast the test.
  planSteps(`add ${'1 '.repeat(100_000)} then ${'a/b "'.repeat(50_000)}`, recordedTools())
})

test('many equal words in names of a server are compared in one way', () => {
  const name = (last: string): string => `${'a_'.repeat(40)}${last}`
  const said = 'a '.repeat(60)
  const argument = { enum: [name('c')] }
  const tools = [offeredTool(name('b'), {}), offeredTool('echo', { [name('d')]: argument })]
  // More than one way would be as many ways as no test can wait for.
  expect(calls(`run ${said}`, tools)).toEqual([undefined])
  expect(planSteps(`echo ${said}`, tools)[0]?.choice?.missing).toEqual([name('d')])
  expect(calls(`run ${'a '.repeat(40)} b`, tools)).toEqual([[name('b'), {}]])
})
