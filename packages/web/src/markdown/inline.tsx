import type { Token, Tokens } from 'marked'
import type { ReactNode } from 'react'
import { decodeEntities } from './entities.ts'
import { MAX_DEPTH } from './lexer.ts'
import { inlinePicture, safeLink } from './links.ts'
import { TexMath } from './tex-math.tsx'

/** Elements of the tokens within a block. No text becomes HTML. */
export function inline(tokens: readonly Token[] | undefined, depth: number): ReactNode[] {
  return (tokens ?? []).map((token, index) => <Inline key={index} token={token} depth={depth} />)
}

function Inline({ token, depth }: { readonly token: Token; readonly depth: number }): ReactNode {
  if (depth > MAX_DEPTH) return token.raw
  const children = (): ReactNode =>
    'tokens' in token && token.tokens !== undefined
      ? inline(token.tokens, depth + 1)
      : decodeEntities('text' in token ? String(token.text) : token.raw)
  switch (token.type) {
    case 'strong':
      return <strong>{children()}</strong>
    case 'em':
      return <em>{children()}</em>
    case 'del':
      return <del>{children()}</del>
    case 'codespan':
      return <code>{token.text}</code>
    case 'br':
      return <br />
    case 'link':
      return <Link href={token.href}>{children()}</Link>
    case 'image':
      return <Picture token={token as Tokens.Image} />
    case 'mathInline':
      return <TexMath tex={token.text} isBlock={false} />
    case 'footnoteMark':
      return <sup>[{token.text}]</sup>
    case 'html':
      return token.raw
    case 'checkbox':
      return <input type="checkbox" checked={token.checked === true} disabled aria-label="done" />
    default:
      return children()
  }
}

function Link({
  href,
  children,
}: {
  readonly href: string
  readonly children: ReactNode
}): ReactNode {
  const safe = safeLink(href)
  if (safe === undefined) return <span className="dead-link">{children}</span>
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

/** A picture of another host is a link, so that reading an answer asks no other host. */
function Picture({ token: { href, text } }: { readonly token: Tokens.Image }): ReactNode {
  const source = inlinePicture(href)
  const name = text === '' ? 'picture' : text
  if (source !== undefined) return <img src={source} alt={text} loading="lazy" />
  return <Link href={href}>{`Picture: ${name}`}</Link>
}
