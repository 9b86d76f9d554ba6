/**
 * What coordinators of checkpoints and those around them say to each other, in every process of a run: ids rise, a
 * checkpoint that was triggered ends once, every request is answered exactly once, none is forgotten when the job is over,
 * and no more checkpoints are under way than may be.
 */
import type { CheckpointAction, CheckpointEvent, RequestId } from '../../../engine/src/checkpoint/index.ts';

/** Of one coordinator. */
interface Conversation {
  readonly process: string;
  /** Asked for and not answered. */
  readonly open: Set<RequestId>;
  readonly answered: Set<RequestId>;
  /** Triggered and not ended. */
  readonly underWay: Set<number>;
  lastId: number;
}

export class CheckpointConversations {
  /** What was wrong first. */
  problem: string | undefined;
  private readonly concurrentMax: number;
  private readonly byCoordinator = new Map<object, Conversation>();

  /** `concurrentMax`: checkpoints under way at a time; savepoints begin beside them. */
  constructor(concurrentMax: number) {
    this.concurrentMax = concurrentMax;
  }

  /** In `process` a coordinator was told of `event`; `actions` is what it wants done. */
  decided(
    coordinator: object,
    process: string,
    event: CheckpointEvent,
    actions: readonly CheckpointAction[],
  ): void {
    let conversation = this.byCoordinator.get(coordinator);
    if (conversation === undefined) {
      conversation = { process, open: new Set(), answered: new Set(), underWay: new Set(), lastId: -1 };
      this.byCoordinator.set(coordinator, conversation);
    }
    if (event.type === 'triggerByHand' || event.type === 'finalCheckpoint')
      conversation.open.add(event.requestId);
    if (event.type === 'stored') conversation.underWay.delete(event.checkpointId);
    for (const action of actions) this.take(conversation, action);
  }

  /** The process has ended by itself: all its requests must have been answered. */
  ended(process: string): void {
    for (const conversation of this.byCoordinator.values()) {
      const { open } = conversation;
      if (conversation.process !== process || open.size === 0) continue;
      this.found(conversation, `request ${[...open].join(', ')} was never answered`);
    }
  }

  private take(conversation: Conversation, action: CheckpointAction): void {
    const { underWay } = conversation;
    switch (action.type) {
      case 'trigger': {
        const { checkpointId, kind } = action.barrier;
        if (checkpointId <= conversation.lastId)
          this.found(conversation, `checkpoint ${checkpointId} was triggered after ${conversation.lastId}`);
        conversation.lastId = checkpointId;
        underWay.add(checkpointId);
        if (kind === 'checkpoint' && underWay.size > this.concurrentMax)
          this.found(
            conversation,
            `${underWay.size} checkpoints are under way, ${this.concurrentMax} may be`,
          );
        return;
      }
      case 'notifyAborted':
        if (!underWay.delete(action.checkpointId))
          this.found(conversation, `checkpoint ${action.checkpointId} was given up, and was not under way`);
        return;
      case 'notifyComplete':
        if (underWay.has(action.checkpointId))
          this.found(conversation, `checkpoint ${action.checkpointId} was told of before it was stored`);
        return;
      case 'answer':
        return this.answer(conversation, action.requestId);
      default:
    }
  }

  private answer(conversation: Conversation, requestId: RequestId): void {
    const { open, answered } = conversation;
    if (!open.delete(requestId)) {
      const what = answered.has(requestId) ? 'was answered twice' : 'was answered, and nobody had asked';
      this.found(conversation, `request ${requestId} ${what}`);
    }
    answered.add(requestId);
  }

  private found({ process }: Conversation, what: string): void {
    this.problem ??= `in ${process} ${what}`;
  }
}
