export { TokenBucket } from './policies/token-bucket.ts'
export { type Pace, PacedConnection } from './streams/paced-frames.ts'
