import type { Arbitrary } from 'fast-check'
import * as fc from 'fast-check'

/** Strings that break naive programs. */
const NASTY = [
  '',
  ' ',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'then',
  'toJSON',
  'length',
  '$ref',
  '..',
  '../../etc/passwd',
  'a.b',
  'a__b',
  'a\nb',
  'a\r\nX-Evil: 1',
  'a\u0000b',
  '\u001B[2J',
  '\u009B31m',
  '\uD800',
  '\uDC00\uD800',
  '\u202Eabc',
  '\uFEFF',
  '%00',
  '%',
  '${HOME}',
  '${constructor}',
  '${input:x}',
  '*',
  '>',
  '-1',
  '1e999',
  'x'.repeat(70),
  'x'.repeat(1_500),
]

/** UTF-16 units in any order, including lone surrogates. */
const units: Arbitrary<string> = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 12 })
  .map((codes) => String.fromCharCode(...codes))

export const anyText: Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NASTY) },
  { weight: 2, arbitrary: fc.string() },
  { weight: 1, arbitrary: units },
)

const anyNumber: Arbitrary<number> = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -1, 2 ** 31, 2 ** 53, 1e308, 0.5),
)

/** Any value that JSON can have; `__proto__` is a plain key. */
export const anyJson: Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    anyText,
    anyNumber,
    fc.boolean(),
    fc.constant(null),
    // Objects with a length, which look like strings or lists.
    fc.constantFrom({ length: {} }, { length: { toString: '' } }, { length: -1 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .array(fc.tuple(anyText, tie('value')), { maxLength: 4 })
      .map((members) => Object.fromEntries(members)),
  ),
})).value

/** JSON text that is nested too deep for recursive functions. */
const deepText: Arbitrary<string> = fc
  .tuple(fc.constantFrom(100, 2_000, 20_000), fc.boolean())
  .map(([depth, isObject]) =>
    isObject
      ? `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
      : `${'['.repeat(depth)}${']'.repeat(depth)}`,
  )

/** A value like those of `valid`, in which some members are replaced, missing, added or renamed. */
export function nearly(valid: Arbitrary<unknown>): Arbitrary<unknown> {
  const change = fc.record({
    path: fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 6 }),
    action: fc.constantFrom('replace', 'remove', 'add', 'rename'),
    name: anyText,
    value: fc.oneof({ weight: 3, arbitrary: anyJson }, { weight: 1, arbitrary: valid }),
  })
  return fc
    .tuple(valid, fc.array(change, { minLength: 0, maxLength: 3 }))
    .map(([value, changes]) => changes.reduce<unknown>(changed, value))
}

interface Change {
  readonly path: readonly number[]
  readonly action: string
  readonly name: string
  readonly value: unknown
}

function changed(target: unknown, { path: [step = 0, ...path], ...change }: Change): unknown {
  if (typeof target !== 'object' || target === null) return change.value
  const members: [string, unknown][] = Object.entries(target)
  const index = step % Math.max(1, members.length)
  const member = members[index]
  if (member === undefined || path.length === 0) {
    const { action, name, value } = change
    if (action === 'add' || member === undefined) members.push([name, value])
    else if (action === 'remove') members.splice(index, 1)
    else members[index] = action === 'rename' ? [name, member[1]] : [member[0], value]
  } else {
    members[index] = [member[0], changed(member[1], { path, ...change })]
  }
  return Array.isArray(target) ? members.map(([, value]) => value) : Object.fromEntries(members)
}

/** Adds a deep value to one of the objects of a JSON text. */
function withDeepMember([text, deep, at]: readonly [string, string, number]): string {
  const [first, ...rest] = text.split('{')
  const object = at % Math.max(1, rest.length)
  const objects = rest.map((each, index) => {
    return index === object
      ? `{"deep":${deep}${each.startsWith('}') ? '' : ','}${each}`
      : `{${each}`
  })
  return [first, ...objects].join('')
}

/** JSON text like that of the values, with some random or deep text instead. */
export function textLike(values: Arbitrary<unknown>): Arbitrary<string> {
  const json = nearly(values).map((value) => JSON.stringify(value) ?? '')
  return fc.oneof(
    { weight: 8, arbitrary: json },
    { weight: 1, arbitrary: anyText },
    { weight: 1, arbitrary: deepText },
    {
      weight: 1,
      arbitrary: fc
        .tuple(json, fc.nat(), fc.nat({ max: 5 }), anyText)
        .map(([text, at, length, more]) => {
          const begin = at % (text.length + 1)
          return text.slice(0, begin) + more + text.slice(begin + length)
        }),
    },
    { weight: 1, arbitrary: fc.tuple(json, deepText, fc.nat()).map(withDeepMember) },
  )
}

/** Bytes of such text, some of which are no UTF-8. A counterexample is shown as text. */
export function bytesLike(values: Arbitrary<unknown>): Arbitrary<Buffer> {
  return fc
    .oneof(
      { weight: 9, arbitrary: textLike(values).map((text) => Buffer.from(text)) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)) },
    )
    .map((bytes) =>
      Object.assign(bytes, { [fc.toStringMethod]: () => JSON.stringify(bytes.toString('latin1')) }),
    )
}
