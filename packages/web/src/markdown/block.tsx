import type { Token, Tokens } from 'marked'
import type { ReactNode } from 'react'
import { lazy, memo, Suspense } from 'react'
import { CodeBlock } from './code-block.tsx'
import { inline } from './inline.tsx'
import { MAX_DEPTH } from './lexer.ts'
import { isSameBlock } from './parse.ts'
import { TexMath } from './tex-math.tsx'

const Diagram = lazy(async () => ({ default: (await import('./diagram.tsx')).Diagram }))

export interface BlockProps {
  readonly token: Token
  readonly depth?: number
}

/** One block of markdown, which is drawn again only when it changes. */
export const Block = memo(
  function Block({ token, depth = 0 }: BlockProps): ReactNode {
    return depth > MAX_DEPTH ? <p>{token.raw}</p> : blockOf(token, depth)
  },
  ({ token: one }, { token: other }) => isSameBlock(one, other),
)

function blockOf(token: Token, depth: number): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'hr':
      return <hr />
    case 'heading':
      return <Heading token={token as Tokens.Heading} />
    case 'code':
      return <Code token={token as Tokens.Code} />
    case 'mathBlock':
      return <TexMath tex={token.text} isBlock />
    case 'blockquote':
      return <blockquote dir={directionOf(token)}>{blocks(token.tokens, depth + 1)}</blockquote>
    case 'footnote':
      return <Footnote token={token} depth={depth + 1} />
    case 'list':
      return <List token={token as Tokens.List} depth={depth + 1} />
    case 'table':
      return <Table token={token as Tokens.Table} />
    case 'html':
      return (
        <p className="source" dir={directionOf(token)}>
          {token.raw.trimEnd()}
        </p>
      )
    case 'text':
      return 'tokens' in token ? <>{inline(token.tokens, depth)}</> : <p>{token.raw}</p>
    case 'paragraph':
      return <p dir={directionOf(token)}>{inline(token.tokens, depth)}</p>
    default:
      return <>{inline([token], depth)}</>
  }
}

function Code({ token: { text, lang = '', raw } }: { readonly token: Tokens.Code }): ReactNode {
  const code = <CodeBlock code={text} language={lang} />
  return lang.toLowerCase() === 'mermaid' && isClosed(raw) ? (
    <Suspense fallback={code}>
      <Diagram code={text} />
    </Suspense>
  ) : (
    code
  )
}

/** Whether the fence of a code has its end, so that the code does not grow. */
function isClosed(raw: string): boolean {
  const [fence = ''] = /`{3,}|~{3,}/.exec(raw) ?? []
  return raw.trimEnd().split('\n').slice(1).at(-1)?.trim().startsWith(fence) === true
}

/** Letters that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]/

/** `auto` only where it matters, since the browser looks for the direction in each frame in which the text grows. */
function directionOf({ raw }: Token): 'auto' | undefined {
  return RIGHT_TO_LEFT.test(raw) ? 'auto' : undefined
}

function blocks(tokens: readonly Token[] | undefined, depth: number): ReactNode[] {
  return (tokens ?? []).map((token, index) => <Block key={index} token={token} depth={depth} />)
}

/** The page has its own headings above those of answers. */
function Heading({ token }: { readonly token: Tokens.Heading }): ReactNode {
  const level = Math.min(token.depth + 2, 6)
  const Tag = `h${level}` as 'h3' | 'h4' | 'h5' | 'h6'
  return <Tag dir={directionOf(token)}>{inline(token.tokens, 0)}</Tag>
}

function Footnote({
  token,
  depth,
}: {
  readonly token: Tokens.Generic
  readonly depth: number
}): ReactNode {
  return (
    <div className="footnote" dir={directionOf(token)}>
      <sup>[{token.label}]</sup>
      <div>{blocks(token.tokens, depth)}</div>
    </div>
  )
}

function List({
  token,
  depth,
}: {
  readonly token: Tokens.List
  readonly depth: number
}): ReactNode {
  const dir = directionOf(token)
  const items = token.items.map((item, index) => (
    <li key={index} className={item.task ? 'task' : undefined}>
      {blocks(item.tokens, depth)}
    </li>
  ))
  return token.ordered ? (
    <ol dir={dir} start={Number(token.start)}>
      {items}
    </ol>
  ) : (
    <ul dir={dir}>{items}</ul>
  )
}

function Table({ token }: { readonly token: Tokens.Table }): ReactNode {
  const dir = directionOf(token)
  const cell = ({
    tokens,
    align,
  }: Tokens.TableCell): { className?: string; children: ReactNode } => ({
    ...(align === null ? {} : { className: `align-${align}` }),
    children: inline(tokens, 0),
  })
  return (
    <div className="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {token.header.map((each, index) => (
              <th key={index} scope="col" dir={dir} {...cell(each)} />
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>
              {row.map((each, column) => (
                <td key={column} dir={dir} {...cell(each)} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
