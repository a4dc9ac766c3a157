import type { ReactNode } from 'react'
import { Fragment, useState } from 'react'
import { pretty } from '../state/pretty.ts'
import type { JsonRows } from '../state/read-json.ts'
import { tableOf } from '../state/read-json.ts'
import { LongText } from './long-text.tsx'
import { ToggleButton } from './toggle-button.tsx'

/** A longer text is shown by pages. */
const MAX_TEXT = 400
/** The number of rows, fields or items at first. `MORE`: is added by each press. */
const PAGE = 50
const MORE = 10 * PAGE

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
      <ToggleButton label="Raw" isOn={isRaw} onChange={setIsRaw} />
    </div>
  )
}

function JsonContent({ value }: { readonly value: unknown }): ReactNode {
  if (typeof value !== 'object' || value === null) return <LongText text={pretty(value)} />
  const table = tableOf(value)
  return table === undefined ? <JsonTree value={value} /> : <JsonTable {...table} />
}

function JsonTable({ rows, columns }: JsonRows): ReactNode {
  const [count, setCount] = useState(PAGE)
  return (
    <>
      <div className="table" tabIndex={0} role="group" aria-label="Table">
        <table>
          <thead>
            <tr>
              {columns.map((column) => (
                <th
                  key={column}
                  scope="col"
                  className={numberClass(rows.find((row) => Object.hasOwn(row, column))?.[column])}
                >
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
      <More left={rows.length - count} unit="rows" onMore={() => setCount(count + MORE)} />
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
        unit={`${unitOf(value)}s`}
        onMore={() => setCount(count + MORE)}
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
        {size} {unitOf(value)}
        {size > 1 && 's'}
      </summary>
      {isOpen && <JsonContent value={value} />}
    </details>
  )
}

function unitOf(value: object): string {
  return Array.isArray(value) ? 'item' : 'field'
}

function More(props: {
  readonly left: number
  readonly unit: string
  readonly onMore: () => void
}): ReactNode {
  const { left, unit, onMore } = props
  if (left <= 0) return null
  return (
    <button type="button" onClick={onMore}>
      Show more ({left} {unit} are left)
    </button>
  )
}
