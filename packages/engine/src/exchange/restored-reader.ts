/**
 * The receiving end of a restored channel: hands out the elements of an earlier run as a ring's reader hands out those of
 * this one. Made by the input gate; knows no ring, and lets go of each element that was read.
 */
import { assert } from '../base/index.ts';
import { ByteView } from '../types/index.ts';
import type { ElementKind } from './element.ts';
import type { InFlightElement } from './in-flight.ts';

const NOTHING = ByteView.allocate(0);

export class RestoredReader {
  /** Over the first element. */
  view = NOTHING;
  /** Where its bytes begin in `view`. */
  readonly start = 0;
  readonly #elements: (InFlightElement | undefined)[];
  #first = 0;

  constructor(elements: readonly InFlightElement[]) {
    this.#elements = [...elements];
    this.#show();
  }

  hasElement(): boolean {
    return this.#first < this.#elements.length;
  }

  /** No barrier overtakes what is older than all of them. */
  hasAnnouncement(): boolean {
    return false;
  }

  /** Elements left. */
  backlog(): number {
    return this.#elements.length - this.#first;
  }

  get kind(): ElementKind {
    return this.#elements[this.#first]!.kind;
  }

  get lengthBytes(): number {
    return this.view.limit;
  }

  get sequence(): number {
    return this.#first;
  }

  kindAt(offset: number): ElementKind {
    return this.#elements[this.#first + offset]!.kind;
  }

  /** That element's bytes, which nobody changes. */
  copyAt(offset: number): Uint8Array {
    return this.#elements[this.#first + offset]!.bytes;
  }

  release(): void {
    assert(this.hasElement(), 'a restored element was released that was not there');
    this.#elements[this.#first++] = undefined;
    this.#show();
  }

  #show(): void {
    this.view = this.hasElement() ? ByteView.of(this.#elements[this.#first]!.bytes) : NOTHING;
  }
}
