import type { ReactNode } from 'react'
import { useState } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { TableHead } from '../parts/table-head.tsx'
import type { Shortcut } from '../state/shortcuts.ts'
import { SHORTCUTS } from '../state/shortcuts.ts'
import { hasSingleKeys, setSingleKeys } from '../state/single-keys.ts'

const ALL: readonly Shortcut[] = Object.values(SHORTCUTS)
const SINGLE = ALL.filter(({ isSingle }) => isSingle === true).map(({ keys }) => keys)

/** All shortcuts, and the switch of those of a single key. */
export function ShortcutsDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  const [isOn, setIsOn] = useState(hasSingleKeys)
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <label>
        <input
          type="checkbox"
          checked={isOn}
          onChange={({ target }) => {
            setSingleKeys(target.checked)
            setIsOn(target.checked)
          }}
        />{' '}
        Shortcuts of a single key: {SINGLE.join(', ')}
      </label>
      <table>
        <TableHead columns={['Keys', 'Where', 'What']} />
        <tbody>
          {ALL.map(({ keys, where, what }) => (
            <tr key={keys}>
              <th scope="row">
                <kbd>{keys}</kbd>
              </th>
              <td className="note">{where}</td>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  )
}
