import type { StreamPart } from '../../model.ts'

type Expected = readonly (string | readonly [name: string, args: string])[]

/** The output of a model, and the texts and calls that must be read from it. */
export interface ModelOutput {
  readonly output: string
  readonly expected: Expected
}

const weather = '{"tool":"get_weather","arguments":{"city":"Oslo"}}'
const search = '{"tool":"search","arguments":{"query":"a } b","limit":3}}'
const OSLO: Expected[number] = ['get_weather', '{"city":"Oslo"}']
const QUERY: Expected[number] = ['search', '{"query":"a } b","limit":3}']

/** Notations of one call. */
const calls: readonly [json: string, expected: Expected[number]][] = [
  [weather, OSLO],
  [search, QUERY],
  ['{ "tool" : "get_weather" , "arguments" : { "city" : "Oslo" } }', OSLO],
  ['{\n  "tool": "get_weather",\n  "arguments": {\n    "city": "Oslo"\n  }\n}', OSLO],
  ['{"arguments":{"city":"Oslo"},"tool":"get_weather"}', OSLO],
  ['{"tool":"list_files","arguments":{}}', ['list_files', '{}']],
  ['{"tool":"now"}', ['now', '{}']],
  ['{"tool":"get_weather","arguments":"{\\"city\\":\\"Oslo\\"}"}', OSLO],
  [
    '{"tool":"say","arguments":{"text":"{\\"tool\\":\\"x\\"} \\\\"}}',
    ['say', '{"text":"{\\"tool\\":\\"x\\"} \\\\"}'],
  ],
  ['{"tool":"say","arguments":{"text":"👋 ```\\n]"}}', ['say', '{"text":"👋 ```\\n]"}']],
  [
    '{"tool":"deep","arguments":{"a":[{"b":[1,{"c":"]"}]}]}}',
    ['deep', '{"a":[{"b":[1,{"c":"]"}]}]}'],
  ],
  ['{"tool":"get_weather","arguments":{"city":"Oslo"},"reason":"they ask"}', OSLO],
]

/** Notations around a call, and the text before and after it that must be shown. */
const frames: readonly ((json: string) => [output: string, before: string, after: string])[] = [
  (json) => [json, '', ''],
  (json) => [`\`\`\`json\n${json}\n\`\`\``, '', ''],
  (json) => [`\`\`\`\n${json}\`\`\`\n`, '', ''],
  (json) => [`[${json}]`, '', ''],
  (json) => [`\`\`\`json\n[\n  ${json}\n]\n\`\`\``, '', ''],
  (json) => [`I look it up.\n\n${json}`, 'I look it up.\n\n', ''],
  (json) => [`Sure!\n\`\`\`tool_code\n${json}\n\`\`\`\nOne moment.`, 'Sure!\n', 'One moment.'],
  (json) => [`${json}\n\nThat tells me.`, '', 'That tells me.'],
  (json) => [`Use \`code\` [1] {so}: ${json} ok`, 'Use `code` [1] {so}: ', 'ok'],
]

const framed = calls.flatMap(([json, call]) =>
  frames.map((frame): ModelOutput => {
    const [output, before, after] = frame(json)
    return { output, expected: [before, call, after].filter((part) => part !== '') }
  }),
)

const several: readonly ModelOutput[] = [
  { output: weather + search, expected: [OSLO, QUERY] },
  { output: `${weather}\n${search}`, expected: [OSLO, QUERY] },
  { output: `[${weather}, ${search}]`, expected: [OSLO, QUERY] },
  {
    output: `\`\`\`json\n[${weather},\n${search}]\n\`\`\`\nDone.`,
    expected: [OSLO, QUERY, 'Done.'],
  },
  { output: `\`\`\`json\n${weather}\n${search}\n\`\`\``, expected: [OSLO, QUERY] },
  {
    output: `\`\`\`json\n${weather}\n\`\`\`\nand\n\`\`\`json\n${search}\n\`\`\``,
    expected: [OSLO, 'and\n', QUERY],
  },
  {
    output: `First:\n${weather}\nthen:\n${search}`,
    expected: ['First:\n', OSLO, 'then:\n', QUERY],
  },
]

/** Text after a call that resembles a closing fence. */
const followed: readonly ModelOutput[] = [
  {
    output: `\`\`\`json\n${weather} // now\n\`\`\`\nand ${weather}\n\`\`\`python\nprint()\n\`\`\``,
    expected: [OSLO, '// now\n```\nand ', OSLO, '```python\nprint()\n```'],
  },
  {
    output: `\`\`\`json\n${weather}\n\`\`\`json\n${search}\n\`\`\``,
    expected: [OSLO, QUERY],
  },
]

const texts = [
  'Plain words.',
  '',
  'Braces {like these}, [lists] and `code`.',
  'JSON: {"name":"Bob","tools":["a"]} and {"tools":1}',
  '```json\n{"city":"Oslo"}\n```\nis what I got.',
  '```ts\nif (a) { b() }\n```',
  '``` ``` ` `` {',
  'It ends with {"too',
  'It ends with {"tool"',
  'It ends with a fence ```json\n',
  '{"tool":3,"arguments":{}} is no call',
  'Store it as {"tool":"hammer","price":3} in the file.',
  'Of {"tool":"hammer", nothing',
  '{"arguments":{}} neither',
  '[{"a":1}, {"b":2}]',
  '数学 {x | x ∈ ℝ} 👩‍👩‍👧 [✓]',
].map((output): ModelOutput => ({ output, expected: output === '' ? [] : [output] }))

/** Calls with invalid JSON, which are passed on so that the model gets an error. */
const faulty: readonly ModelOutput[] = [
  {
    output: '{"tool":"now","arguments":{"a":1,}}',
    expected: [['now', '{"tool":"now","arguments":{"a":1,}}']],
  },
  {
    output: '{"tool":"now","arguments":{a:1}} ok',
    expected: [['now', '{"tool":"now","arguments":{a:1}}'], 'ok'],
  },
  {
    output: '{"tool":"now","arguments":{"a":',
    expected: [['now', '{"tool":"now","arguments":{"a":']],
  },
  {
    output: '{"tool":"now","arguments":{"a":"b\\',
    expected: [['now', '{"tool":"now","arguments":{"a":"b\\']],
  },
  { output: '{"tool": now, "arguments": {}}', expected: [['', '{"tool": now, "arguments": {}}']] },
  {
    output: 'Hm. {"tool":"now","arguments":{"a":"b}}',
    expected: ['Hm. ', ['now', '{"tool":"now","arguments":{"a":"b}}']],
  },
]

export const modelOutputs: readonly ModelOutput[] = [
  ...framed,
  ...several,
  ...followed,
  ...texts,
  ...faulty,
]

/** The parts in the form of `Expected`, with adjacent texts joined. */
export function readable(parts: readonly StreamPart[]): Expected {
  const all: (string | readonly [string, string])[] = []
  for (const part of parts) {
    if (part.type === 'tool-call') all.push([part.name, part.arguments])
    else if (part.type === 'text-delta') {
      const last = all.at(-1)
      if (typeof last === 'string') all[all.length - 1] = last + part.text
      else all.push(part.text)
    }
  }
  return all
}
