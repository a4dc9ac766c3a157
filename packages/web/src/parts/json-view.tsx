import type { ReactNode } from 'react'
import { Fragment, useState } from 'react'
import { pretty } from '../state/pretty.ts'
import { columnsOf, isFlatList } from '../state/read-json.ts'
import { LongText } from './long-text.tsx'

/** A longer text is shown by pages. */
const MAX_TEXT = 400
/** Rows, fields or items that are shown at first, and more with each press. */
const PAGE = 50

export interface JsonViewProps {
  readonly value: unknown
  /** The JSON as it was written. */
  readonly text?: string
}

/** JSON as a table or as a tree that unfolds, and as its text. */
export function JsonView({ value, text }: JsonViewProps): ReactNode {
  const [isRaw, setIsRaw] = useState(false)
  return (
    <div className="json">
      {isRaw ? <LongText text={text ?? pretty(value)} /> : <JsonContent value={value} />}
      <button
        type="button"
        className="text-button"
        aria-pressed={isRaw}
        onClick={() => setIsRaw(!isRaw)}
      >
        Raw
      </button>
    </div>
  )
}

function JsonContent({ value }: { readonly value: unknown }): ReactNode {
  if (typeof value !== 'object' || value === null) return <LongText text={pretty(value)} />
  const columns = columnsOf(value)
  return columns !== undefined && isFlatList(value) ? (
    <JsonTable rows={value} columns={columns} />
  ) : (
    <JsonTree value={value} />
  )
}

function JsonTable(props: {
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly columns: readonly string[]
}): ReactNode {
  const { rows, columns } = props
  const [count, setCount] = useState(PAGE)
  return (
    <>
      <div className="table" tabIndex={0} role="group" aria-label="Table">
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col" className={numberClass(rows[0]?.[column])}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, count).map((row, index) => (
              <tr key={index}>
                {columns.map((column) => (
                  <td key={column} className={numberClass(row[column])}>
                    {Object.hasOwn(row, column) && <JsonValue value={row[column]} />}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <More left={rows.length - count} of="rows" onMore={() => setCount(count + 10 * PAGE)} />
    </>
  )
}

function numberClass(value: unknown): 'number' | undefined {
  return typeof value === 'number' ? 'number' : undefined
}

function JsonTree({ value }: { readonly value: object }): ReactNode {
  const [count, setCount] = useState(PAGE)
  const entries = Object.entries(value)
  if (entries.length === 0) return <p className="muted">none</p>
  return (
    <>
      <dl className="pairs">
        {entries.slice(0, count).map(([name, each]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>
              <JsonValue value={each} />
            </dd>
          </Fragment>
        ))}
      </dl>
      <More
        left={entries.length - count}
        of={`${partsOf(value)}s`}
        onMore={() => setCount(count + 10 * PAGE)}
      />
    </>
  )
}

function JsonValue({ value }: { readonly value: unknown }): ReactNode {
  const [isOpen, setIsOpen] = useState(false)
  if (typeof value !== 'object' || value === null) {
    const text = String(value)
    return text.length <= MAX_TEXT ? text : <LongText text={text} />
  }
  const size = Object.keys(value).length
  if (size === 0) return 'none'
  return (
    <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        {size} {partsOf(value)}
        {size > 1 && 's'}
      </summary>
      {isOpen && <JsonContent value={value} />}
    </details>
  )
}

function partsOf(value: object): string {
  return Array.isArray(value) ? 'item' : 'field'
}

function More(props: {
  readonly left: number
  readonly of: string
  readonly onMore: () => void
}): ReactNode {
  const { left, of, onMore } = props
  if (left <= 0) return null
  return (
    <button type="button" onClick={onMore}>
      Show more ({left} {of} are left)
    </button>
  )
}
