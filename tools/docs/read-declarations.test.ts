import { expect, test } from 'vitest'
import { readDeclarations } from './read-declarations.ts'

const SOURCE = `import { x } from './y.ts'

/** Not exported. */
interface Hidden {
  readonly a: string
}

/**
 * What a thing is. More about it.
 */
export class Thing<
  Value,
> extends Base {
  readonly #secret = 1
  /** Its name, as in \`{a}.{b}\`. */
  readonly name: string

  /** One form. */
  put(value: string): void
  /** Another form. */
  put(value: number, more?: Value): void
  put(value: unknown): void {
    this.#secret
  }

  async *read(
    first: string,
    { second }: Options = {},
  ): AsyncGenerator<string> {
    if (first) {
      return
    }
  }

  #hidden(): void {}
}

/** How a thing is made. */
export interface Options extends Pick<
  Thing,
  'name'
> {
  readonly second?: {
    readonly a: string
    readonly b: number
  }
}

/** Makes one. */
export async function make(
  options: Options,
): Promise<Thing> {
  return new Thing(options)
}

export type Kind =
  | 'a'
  | 'b'
`

test('exported declarations are read with their signatures, first sentences and public members', () => {
  const put = 'put(value:'
  expect(readDeclarations(SOURCE)).toEqual([
    {
      kind: 'class',
      name: 'Thing',
      signature: 'class Thing<Value,> extends Base',
      summary: 'What a thing is.',
      members: [
        { signature: 'readonly name: string', summary: 'Its name, as in `{a}.{b}`.' },
        { signature: `${put} string): void`, summary: 'One form.' },
        { signature: `${put} number, more?: Value): void`, summary: 'Another form.' },
        {
          signature: 'read(first: string, { second }: Options = {}): AsyncGenerator<string>',
          summary: '',
        },
      ],
    },
    {
      kind: 'interface',
      name: 'Options',
      signature: "interface Options extends Pick<Thing, 'name'>",
      summary: 'How a thing is made.',
      members: [
        { signature: 'readonly second?: { readonly a: string; readonly b: number }', summary: '' },
      ],
    },
    {
      kind: 'function',
      name: 'make',
      signature: 'function make(options: Options): Promise<Thing>',
      summary: 'Makes one.',
      members: [],
    },
    {
      kind: 'type',
      name: 'Kind',
      signature: "type Kind =\n  | 'a'\n  | 'b'",
      summary: '',
      members: [],
    },
  ])
})
