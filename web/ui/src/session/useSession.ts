import { useEffect, useState, useSyncExternalStore } from 'react';
import { SessionFollower, type SessionRef, type SessionView } from './SessionFollower';

/** Follows a session while the component is shown. */
export function useSession(ref: SessionRef): { view: SessionView; retry: () => void } {
  const [follower, setFollower] = useState(() => new SessionFollower(ref));
  if (!follower.follows(ref)) {
    setFollower(new SessionFollower(ref));
  }
  useEffect(() => {
    follower.start();
    return () => {
      follower.stop();
    };
  }, [follower]);
  return { view: useSyncExternalStore(follower.subscribe, follower.view), retry: follower.retry };
}
