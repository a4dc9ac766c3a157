export { applyEntry } from './fold.ts'
export { isLeftOut } from './is-left-out.ts'
export type { AskedQuestion, QuestionEnd } from './question-end.ts'
export { questionEnd } from './question-end.ts'
export { cancelledBy, isRepeated, nextInput } from './queue.ts'
export { answeredBy, askedBy, isAbandoned, isStillborn, winningStart } from './rules.ts'
export type {
  Checkpoint,
  Generation,
  Input,
  Question,
  SessionState,
  ToolCall,
  Turn,
} from './session-state.ts'
export { activityOf, branchOf, emptySession } from './session-state.ts'
export { fromSnapshot, toSnapshot } from './snapshot.ts'
