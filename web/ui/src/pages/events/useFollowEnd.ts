import { useCallback, useLayoutEffect, useRef, useState, type RefObject } from 'react';
import type { SessionState } from '../../session/state';

type Lines = Pick<SessionState, 'lines' | 'linesSeen'>;

/** The distance from the end, in pixels, that counts as the end. */
const NEAR = 8;

interface FollowEnd {
  panel: RefObject<HTMLDivElement | null>;
  /** The lines to show: the newest, or those at which the user stopped scrolling. */
  shown: Lines;
  onScroll: () => void;
  /** Scrolls to the end and follows it again; null while following. */
  jump: (() => void) | null;
}

/** Keeps a panel scrolled to its end until the user scrolls up. */
export function useFollowEnd(newest: Lines): FollowEnd {
  const panel = useRef<HTMLDivElement>(null);
  const lastTop = useRef(0);
  const [held, setHeld] = useState<Lines | null>(null);
  const following = held === null;

  const toEnd = useCallback(() => {
    if (panel.current) {
      panel.current.scrollTop = panel.current.scrollHeight;
      lastTop.current = panel.current.scrollTop;
    }
  }, []);

  useLayoutEffect(() => {
    if (following) {
      toEnd();
    }
  }, [following, newest.lines, toEnd]);

  // Lines wrap differently when the panel changes its size.
  useLayoutEffect(() => {
    if (!following || !panel.current) {
      return;
    }
    const sizes = new ResizeObserver(toEnd);
    sizes.observe(panel.current);
    return () => {
      sizes.disconnect();
    };
  }, [following, toEnd]);

  const onScroll = () => {
    const { current } = panel;
    if (!current) {
      return;
    }
    const { scrollTop, scrollHeight, clientHeight } = current;
    const up = scrollTop < lastTop.current;
    lastTop.current = scrollTop;
    if (scrollHeight - scrollTop - clientHeight < NEAR) {
      setHeld(null);
    } else if (up) {
      setHeld((before) => before ?? newest);
    }
  };

  return {
    panel,
    shown: held ?? newest,
    onScroll,
    jump: following
      ? null
      : () => {
          setHeld(null);
        },
  };
}
