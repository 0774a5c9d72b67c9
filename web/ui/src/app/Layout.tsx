import {
  Button,
  Masthead,
  MastheadBrand,
  MastheadContent,
  MastheadLogo,
  MastheadMain,
  Page,
  SkipToContent,
  Toolbar,
  ToolbarContent,
  ToolbarGroup,
  ToolbarItem,
  Flex,
} from '@patternfly/react-core';
import title from '@patternfly/react-styles/css/components/Title/title';
import { useEffect, useRef, type AnchorHTMLAttributes } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, NavigationType, useLocation, useNavigationType } from 'react-router';
import { pageAddress } from '../api/base';
import { LANGUAGES, useLanguage } from '../i18n';
import { Account } from './Account';
import { paths } from './paths';
import { SignedInOutlet } from './SignedInOutlet';

const MAIN = 'main';

const HomeLink = (props: AnchorHTMLAttributes<HTMLAnchorElement>) => (
  <Link {...props} to={paths.releases()} style={{ textDecoration: 'none' }} />
);

/** The frame of every page: masthead and content. */
export function Layout() {
  const { t } = useTranslation('common');
  useBeginning();
  return (
    <Page
      masthead={
        <Masthead display={{ default: 'inline' }}>
          <MastheadMain>
            <MastheadBrand>
              <MastheadLogo component={HomeLink} aria-label={t('home')}>
                <Flex alignItems={{ default: 'alignItemsCenter' }} gap={{ default: 'gapSm' }} component="span">
                  <img src={pageAddress('/logo.svg')} alt="" width="32" height="32" />
                  <span className={`${title.title} ${title.modifiers.lg}`}>helmtrail</span>
                </Flex>
              </MastheadLogo>
            </MastheadBrand>
          </MastheadMain>
          <MastheadContent>
            <Toolbar isStatic>
              <ToolbarContent>
                <ToolbarGroup align={{ default: 'alignEnd' }}>
                  <ToolbarItem>
                    <Account />
                  </ToolbarItem>
                  <ToolbarItem>
                    <LanguageSwitch />
                  </ToolbarItem>
                </ToolbarGroup>
              </ToolbarContent>
            </Toolbar>
          </MastheadContent>
        </Masthead>
      }
      skipToContent={<SkipToContent href={`#${MAIN}`}>{t('skipToContent')}</SkipToContent>}
      mainContainerId={MAIN}
      isContentFilled
    >
      <SignedInOutlet />
    </Page>
  );
}

/** Scrolls and focuses the top of each new page. Going back restores the scroll position. */
function useBeginning(): void {
  const { pathname } = useLocation();
  const type = useNavigationType();
  const shown = useRef(pathname);
  useEffect(() => {
    if (shown.current === pathname) {
      return;
    }
    shown.current = pathname;
    const main = document.getElementById(MAIN);
    if (!main) {
      return;
    }
    // A focus ring around the whole page would not help.
    main.style.outline = 'none';
    main.focus({ preventScroll: true });
    if (type !== NavigationType.Pop) {
      main.scrollTo(0, 0);
    }
  }, [pathname, type]);
}

/** Switches to the other language. Its label is in that language. */
function LanguageSwitch() {
  const [language, setLanguage] = useLanguage();
  const other = LANGUAGES.find((l) => l.id !== language) ?? LANGUAGES[0];
  return (
    <Button variant="plain" lang={other.id} onClick={() => void setLanguage(other.id)}>
      {other.name}
    </Button>
  );
}
