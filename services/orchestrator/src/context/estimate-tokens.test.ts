import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { call, text } from './__fixtures__/facts.ts'
import { estimateTokens, messageTokens, promptTokens } from './estimate-tokens.ts'

/** Deterministic pseudorandom bytes. */
function noise(length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, index) =>
    createHash('sha256').update(String(index)).digest(),
  )
  return Buffer.concat(blocks).subarray(0, length)
}

const records = Array.from({ length: 40 }, (_, id) => ({
  id,
  name: `user ${id}`,
  isActive: id % 3 === 0,
  createdAt: new Date(id * 86_400_000).toISOString(),
  tags: ['alpha', 'betaRelease'],
}))

/** Texts and their token counts by o200k. */
const SAMPLES: readonly [string, string, number][] = [
  [
    'prose',
    `All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and should act towards one another in a spirit of brotherhood. The server could not be reached, so please try again in a few minutes or ask whoever looks after it.`,
    55,
  ],
  [
    'German',
    `Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.`,
    38,
  ],
  [
    'Russian',
    `Все люди рождаются свободными и равными в своём достоинстве и правах. Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства.`,
    42,
  ],
  [
    'Chinese',
    `人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。今天的天气非常好,我们打算去公园散步。`,
    52,
  ],
  [
    'Japanese',
    `すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。サーバーがエラーを返しました。`,
    45,
  ],
  [
    'Korean',
    `모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 서버가 오류를 반환했습니다.`,
    31,
  ],
  [
    'Arabic',
    `يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا بروح الإخاء.`,
    42,
  ],
  [
    'code',
    `export function firstKept(inputs: readonly Input[], room: number): number {\n  let first = inputs.length - 1\n  for (let index = first; index >= 0; index--) {\n    if (index < inputs.length - 1 && tokens > room) break\n    first = index\n  }\n  return first\n}\n`,
    71,
  ],
  ['JSON', JSON.stringify(records), 1682],
  ['indented JSON', JSON.stringify(records, undefined, 2), 2602],
  ['base64', noise(6_000).toString('base64'), 5470],
  ['hexadecimal', noise(6_000).toString('hex'), 6835],
  ['numbers', Array.from(noise(2_000), (byte) => byte * 12.375).join(','), 8860],
  [
    'paths',
    Array.from(
      { length: 50 },
      (_, index) => `/home/user/projects/app-${index}/src/some_tool.ts`,
    ).join('\n'),
    599,
  ],
  ['emoji', '👋🌍🎉 great! 😀😃 ok 👍🏽'.repeat(20), 300],
]

test.each(SAMPLES)(
  'the estimate for %s is within a quarter of the token count',
  (_, sample, tokens) => {
    const estimate = estimateTokens(sample)
    expect(estimate).toBeGreaterThan(tokens * 0.75)
    expect(estimate).toBeLessThan(tokens * 1.25)
  },
)

test('a text has no more estimated tokens than UTF-16 units', () => {
  for (const piece of ['', 'a', 'A', '1', '.', ' ', '\n', 'ж', 'ع', '字', '👋', 'aB1 .', '. . .']) {
    expect(estimateTokens(piece)).toBeLessThanOrEqual(piece.length)
  }
})

test.each([
  ['image/png', 5_000_000, 1_500],
  ['text/csv', 4_000, 1_000],
  ['application/sql', 4_000, 1_000],
  ['application/pdf', 50_000, 1_000],
  ['application/pdf', 15_000_000, 30_000],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 5_000_000, 30],
])('a file of type %s with %i bytes is estimated at %i tokens', (mimeType, bytes, tokens) => {
  const media = [{ mimeType, blob: { key: 'k', bytes, digest: 'd' } }]
  expect(messageTokens({ role: 'user', text: '', media }) - 4).toBe(tokens)
})

test('the estimate of a prompt includes its messages, tools and system prompt', () => {
  const long = 'word '.repeat(100)
  const messages = [
    { role: 'user' as const, text: long },
    { role: 'assistant' as const, content: [text(long), { ...call(0), arguments: { long } }] },
    {
      role: 'tool' as const,
      answers: [{ call: call(0).id, name: 'echo', text: long, isError: false }],
    },
  ]
  const tool = { safeName: 'a__b', server: 'a', tool: 'b', description: long, inputSchema: {} }
  const one = estimateTokens(long)
  const tokens = promptTokens(messages, [tool], long)
  expect(tokens).toBeGreaterThan(6 * one)
  expect(tokens).toBeLessThan(6 * one + 50)
})
