import type { resources as english } from '../en/resources';
import type { Translation } from '../translation';

export const resources: Translation<typeof english> = {
  title: '资源',
  ready: '{{ready}} / {{total}} 就绪',
  warnings_other: '{{count}} 个警告',
  none: '尚无资源',
  noneAtEnd: '没有资源',
  kind: '类型',
  name: '名称',
  namespace: '名称空间',
  status: '状态',
  readyColumn: '就绪',
  hook: 'Hook',
  old: '正被替换',
  restarts_other: '重启 {{count}} 次',
  why: '{{name}} 未就绪的原因：{{reason}}',
  warns: '{{name}} 报告的问题：{{reason}}',
  about: '关于 {{name}}：{{reason}}',
  helm: {
    both: 'Helm',
    helm3: 'Helm 3',
    helm4: 'Helm 4',
    ready: '{{helm}} 不等待它',
    waits: '{{helm}} 会等待它',
    fails: '{{helm}} 会因它而失败',
    cannotJudge: '{{helm}} 无法读取其状态，因此 --wait 会超时',
  },
  show: '显示 {{name}} 拥有的资源',
  hide: '隐藏 {{name}} 拥有的资源',
  causes: {
    title: '尚未就绪',
    warnings: '警告',
    final: '无法自行恢复',
    count_other: '及另外 {{count}} 个',
  },
};
