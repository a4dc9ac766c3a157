export { type Pace, PacedConnection, TokenBucket } from '@mcp-host/upstream/frames'
