import type { ReactNode } from 'react'

export interface TableHeadProps {
  readonly columns: readonly string[]
  /** Columns of numbers, which come after the others. */
  readonly numbers?: readonly string[]
}

export function TableHead({ columns, numbers = [] }: TableHeadProps): ReactNode {
  return (
    <thead>
      <tr>
        {columns.map((name) => (
          <th key={name} scope="col">
            {name}
          </th>
        ))}
        {numbers.map((name) => (
          <th key={name} scope="col" className="number">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  )
}
