from unfold.sites import UnfoldAdminSite


class TenantAdminSite(UnfoldAdminSite):
    pass
