export {
  aborted,
  Cancellation,
  type CancelSignal,
  InFlight,
  pause,
  sleep,
  SlotMap,
  toAbortSignal,
} from '@mcp-host/async'
