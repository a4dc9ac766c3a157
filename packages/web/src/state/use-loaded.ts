import { useEffect, useMemo } from 'react'
import { HostError } from '@mcp-host/client'
import { Loader } from './loader.ts'
import { markExpired } from './login.ts'
import { useStore } from './store.ts'

export interface Loaded<Value> {
  /** `undefined` until it is read. */
  readonly value: Value | undefined
  /** Why the last action failed, or the value could not be read. */
  readonly fault: Error | undefined
  readonly reload: () => Promise<void>
  /** Acts at the host, and reads the value again. Resolves to whether the action succeeded. */
  readonly act: (action: () => Promise<unknown>) => Promise<boolean>
}

/** A value of the host. `read` must be the same function at each drawing, unless another value is wanted. */
export function useLoaded<Value>(read: () => Promise<Value>): Loaded<Value> {
  const loader = useMemo(() => new Loader(read, checkLogin), [read])
  useEffect(() => void loader.reload(), [loader])
  const { value, readFault, actionFault } = useStore(loader.state)
  return { value, fault: actionFault ?? readFault, reload: loader.reload, act: loader.act }
}

function checkLogin(fault: Error): void {
  if (fault instanceof HostError && fault.status === 401) markExpired()
}
